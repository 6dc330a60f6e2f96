"""Breaks one statement over lines as formatters do: at brackets, what stands in them on lines of its own.

Works on tokens and checks the syntax tree, so that nothing but line breaks, blanks, trailing commas and parentheses around
a whole value can change. What holds a comment or a string of several lines is not touched.
"""

from __future__ import annotations

import ast
import io
import keyword
import textwrap
import tokenize
from collections.abc import Callable
from dataclasses import dataclass

from migrator.resolve.parsing import syntax_tree

WIDTH = 120
_OPENING, _CLOSING = frozenset("([{"), frozenset(")]}")
_UNTOUCHED = frozenset({tokenize.COMMENT, tokenize.ERRORTOKEN})
_BLANK = frozenset({tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER})
_FORMATTED = {getattr(tokenize, "FSTRING_START", -1): 1, getattr(tokenize, "FSTRING_END", -1): -1}
# Where a value without commas is broken: the operators that bind least come first.
_OPERATORS = (
    ("for", "if"),
    ("if", "else"),
    ("or",),
    ("and",),
    ("==", "!=", "<", ">", "<=", ">=", "in", "is"),
    ("+", "-"),
)
_TAIL = 24
"""How many characters may stand behind a bracket that is closed on a line of its own."""
_ASSIGNS = frozenset({"=", "+=", "-=", "*=", "/=", "//=", "%=", "@="})


@dataclass(frozen=True)
class _Word:
    """One token; `gap` says whether a blank stands before it where both are on one line."""

    text: str
    gap: bool


Words = list[_Word]
Broken = Callable[[Words, str, str, int], list[str]]


def wrapped(lines: list[str], unit: str, width: int = WIDTH) -> list[str] | None:
    """The lines of a simple statement, or of the head of a compound one, broken so that none is longer than `width`.

    Lines that fit when they are joined are joined. None where that is not possible, or where nothing may be changed.
    """
    indent = lines[0][: len(lines[0]) - len(lines[0].lstrip())]
    words = _words("\n".join(lines))
    if words is None:
        return None
    for broken in (_fitted(_without_commas(words), indent, unit, width), _fitted(words, indent, unit, width)):
        if all(len(line) <= width for line in broken) and _same(lines, broken):
            return broken
    return None


def aligned(lines: list[str]) -> list[str] | None:
    """The lines of a statement with those that continue a bracket below the text behind it; None where they are already,
    or were not meant to be."""
    inside = _inside(lines)
    if inside is not None:
        return aligned(inside) or inside
    indent = len(lines[0]) - len(lines[0].lstrip())
    text, found = "\n".join(lines), [lines[0]]
    tokens = _tokens(text)
    if tokens is None or any("\t" in line[: len(line) - len(line.lstrip())] for line in lines):
        return None  # tabs have no width that text below them could be aligned to
    opened: list[tuple[int, int, bool]] = []
    """Line and column of each open bracket, and whether text stands behind it on its line."""
    shifts, number = [0], 1
    for index, token in enumerate(tokens):
        row, column = token.start
        while number < min(row, len(lines)):
            number += 1
            line = lines[number - 1]
            own = len(line) - len(line.lstrip())
            wanted = own
            if opened and line.strip():
                at, place, visual = opened[-1]
                hanging = own - indent in (2, 4, 8) or line.lstrip()[0] in _CLOSING
                if visual and not hanging:
                    wanted = place + shifts[at - 1] + 1
                elif shifts[at - 1]:
                    wanted = own + shifts[at - 1]
            shifts.append(wanted - own)
            found.append(" " * wanted + line.lstrip() if line.strip() else line)
        if token.type == tokenize.OP and token.string in _OPENING:
            behind = next((t for t in tokens[index + 1 :] if t.type not in _BLANK), None)
            opened.append((row, column, behind is not None and behind.start[0] == row))
        elif token.type == tokenize.OP and token.string in _CLOSING and opened:
            opened.pop()
    return found if found != lines and _same(lines, found) else None


def _inside(lines: list[str]) -> list[str] | None:
    """The lines of a statement whose last one, a closing bracket, stands to the left of the first one, moved to the right
    by as much; None for others."""
    indent, last = (len(line) - len(line.lstrip()) for line in (lines[0], lines[-1]))
    if last >= indent or lines[-1].lstrip()[:1] not in tuple(_CLOSING) or any("\t" in line for line in lines):
        return None
    if any(mark in line for line in lines for mark in ('"""', "'''", "\\")):  # strings of several lines, perhaps
        return None
    moved = [lines[0], *(" " * (indent - last) + line if line.strip() else line for line in lines[1:])]
    return moved if _same(lines, moved) else None


def _tokens(text: str) -> list[tokenize.TokenInfo] | None:
    """The tokens of a statement; None where it holds a comment or a string of several lines."""
    try:
        found = list(tokenize.generate_tokens(io.StringIO(text.lstrip() + "\n").readline))
    except (tokenize.TokenError, SyntaxError):
        return None
    shift = len(text) - len(text.lstrip())
    moved = []
    for token in found:
        if token.type in _UNTOUCHED or (token.start[0] != token.end[0] and token.type not in _BLANK):
            return None
        start, end = ((row, column + shift if row == 1 else column) for row, column in (token.start, token.end))
        moved.append(token._replace(start=start, end=end))
    lines = text.split("\n")
    if any(line.rstrip().endswith("\\") for line in lines):
        return None
    return moved


def _words(text: str) -> Words | None:
    tokens = _tokens(text)
    if tokens is None:
        return None
    words: Words = []
    lines = text.split("\n")
    formatted = 0
    before: tokenize.TokenInfo | None = None
    for token in tokens:
        if token.type in _BLANK:
            continue
        depth = formatted
        formatted += _FORMATTED.get(token.type, 0)
        if before is None:
            words.append(_Word(token.string, False))
        elif depth:  # what stands inside an f-string belongs to it
            row, column = before.end
            between = lines[row - 1][column : token.start[1]]
            words[-1] = _Word(words[-1].text + between + token.string, words[-1].gap)
        elif before.end[0] == token.start[0]:
            words.append(_Word(token.string, before.end[1] < token.start[1]))
        else:
            tight = before.string in _OPENING or token.string in _CLOSING or token.string == "."
            words.append(_Word(token.string, not tight))
        before = token
    return words


def _joined(words: Words) -> str:
    return "".join(" " + word.text if word.gap and index else word.text for index, word in enumerate(words))


def _pairs(words: Words) -> list[tuple[int, int]]:
    """Where the brackets that stand in no other ones open and close."""
    found, stack = [], []
    for index, word in enumerate(words):
        if word.text in _OPENING:
            stack.append(index)
        elif word.text in _CLOSING and stack:
            start = stack.pop()
            if not stack:
                found.append((start, index))
    return found


def _without_commas(words: Words) -> Words:
    """The words without commas right before a closing bracket."""
    return [
        word
        for word, following in zip(words, [*words[1:], _Word("", False)])
        if not (word.text == "," and following.text in _CLOSING)
    ]


def _fitted(words: Words, indent: str, unit: str, width: int) -> list[str]:
    """Words as lines, broken where they are too long."""
    flat = indent + _joined(words)
    if len(flat) <= width:
        return [flat]
    chain = _in_parentheses(words, indent, unit, width, _links)
    if chain and max(map(len, chain[0])) <= width:
        return chain[0]
    choices = [
        _at_bracket(words, pair, indent, unit, width) for pair in reversed(_pairs(words)) if pair[1] > pair[0] + 1
    ]
    choices += _in_parentheses(words, indent, unit, width)
    choices = [lines for lines in choices if max(map(len, lines)) <= width] or choices
    return min(choices, key=lambda lines: (_is_torn(lines, indent), len(lines)), default=[flat])


def _is_torn(lines: list[str], indent: str) -> bool:
    """Whether much stands behind a bracket that is closed on a line of its own, or several are closed like that."""
    outer = [line for line in lines if line.startswith(indent) and line[len(indent) : len(indent) + 1].strip()]
    tail = outer[-1][len(indent) :]
    return len(outer) > 2 or len(tail) > _TAIL or (" " in tail and "(" in tail)


def _at_bracket(words: Words, pair: tuple[int, int], indent: str, unit: str, width: int) -> list[str]:
    """The contents of one pair of brackets on lines of their own."""
    start, end = pair
    head, body, tail = words[: start + 1], words[start + 1 : end], words[end:]
    lines = [*_fitted(head, indent, unit, width), *_contents(body, head, indent + unit, unit, width)]
    return [*lines, *_fitted(tail, indent, unit, width)] if len(head) < len(words) else lines


def _contents(body: Words, head: Words, indent: str, unit: str, width: int) -> list[str]:
    """What stands between brackets: on one line, or each part on its own."""
    flat = indent + _joined(body)
    if len(flat) <= width:
        return [flat]
    if len(_parts(body, ("for",), before=True)) > 1:  # a comprehension
        return _at_operators(body, indent, unit, width)
    parts = _parts(body, (",",), before=False)
    if len(parts) > 1 or body[-1].text == ",":
        unpacked = any(part[0].text in ("*", "**") for part in parts)
        closing = "" if unpacked and head[0].text == "def" else ","
        lines: list[str] = []
        for part in parts:
            own = part[:-1] if part[-1].text == "," else part
            mine = _fitted(own, indent, unit, width - 1)
            mine[-1] += "," if part[-1].text == "," else closing
            lines += mine
        return lines
    chain = _links(body, indent, unit, width)
    if chain and max(map(len, chain)) <= width:
        return chain
    return _at_operators(body, indent, unit, width) or _fitted(body, indent, unit, width)


def _at_operators(words: Words, indent: str, unit: str, width: int) -> list[str]:
    """A value on several lines, broken before its operators; none where it has no such operators."""
    for operators in _OPERATORS:
        parts = _parts(words, operators, before=True)
        if len(parts) > 1 and (operators[0] != "for" or any(part[0].text == "for" for part in parts)):
            return [line for part in parts for line in _fitted(part, indent, unit, width)]
    return []


def _links(words: Words, indent: str, unit: str, width: int) -> list[str]:
    """A chain of calls, each on a line of its own: ``data.map(f)`` ``.repeat()`` ``.batch(8)``; none for two of them."""
    outer = [word.text for i, word in enumerate(words) if not _depth(words, i) and word.text not in _OPENING]
    plain = all(text == "." or (text.isidentifier() and not keyword.iskeyword(text)) for text in outer)
    starts = [
        i for i, word in enumerate(words) if word.text == "." and words[i - 1].text == ")" and not _depth(words, i)
    ]
    if not plain or len(starts) < 2 or words[-1].text != ")":
        return []
    ranges = zip([0, *starts], [*starts, len(words)])
    return [line for start, end in ranges for line in _fitted(words[start:end], indent, unit, width)]


def _in_parentheses(
    words: Words, indent: str, unit: str, width: int, broken: Broken = _at_operators
) -> list[list[str]]:
    """A value that is assigned or returned, put in parentheses and broken before its operators."""
    assigns = [i for i, word in enumerate(words) if word.text in _ASSIGNS and _depth(words, i) == 0]
    start = assigns[-1] + 1 if assigns else 1 if words[0].text == "return" else None
    if start is None:
        return []
    body = [_Word(words[start].text, False), *words[start + 1 :]] if start < len(words) else []
    lines = broken(body, indent + unit, unit, width) if body else []
    gap = " " if start < len(words) and words[start].gap else ""  # none behind the name of an argument
    return [[f"{indent}{_joined(words[:start])}{gap}(", *lines, f"{indent})"]] if lines else []


def _depth(words: Words, index: int) -> int:
    return sum((word.text in _OPENING) - (word.text in _CLOSING) for word in words[:index])


def _parts(words: Words, marks: tuple[str, ...], before: bool) -> list[Words]:
    """Words parted at those of `marks` that stand in no brackets, which begin a part or end one."""
    parts: list[Words] = [[]]
    depth = 0
    for index, word in enumerate(words):
        depth += (word.text in _OPENING) - (word.text in _CLOSING)
        depth += (word.text == "lambda") - (word.text == ":" and _ends_lambda(words, index))
        mark = word.text in marks and depth == 0 and not (before and _is_sign(words, index))
        if mark and before and parts[-1]:
            parts.append([])
        parts[-1].append(word)
        if mark and not before:
            parts.append([])
    return [part for part in parts if part]


def _ends_lambda(words: Words, index: int) -> bool:
    """Whether a colon stands behind the parameters of a lambda."""
    open_lambdas = [0]
    for word in words[:index]:
        if word.text in _OPENING:
            open_lambdas.append(0)
        elif word.text in _CLOSING and len(open_lambdas) > 1:
            open_lambdas.pop()
        elif word.text == "lambda":
            open_lambdas[-1] += 1
        elif word.text == ":" and open_lambdas[-1]:
            open_lambdas[-1] -= 1
    return open_lambdas[-1] > 0


def _is_sign(words: Words, index: int) -> bool:
    """Whether ``-`` or ``+`` has no left side, or a word is a part of ``is not`` or ``not in``, which stay together."""
    if index == 0:
        return True
    last = words[index - 1].text
    if words[index].text in ("+", "-"):
        return last in _OPENING or last in ",=*/%@:<>" or last in ("return", "and", "or", "not", "in", "if", "else")
    return last == "not" and words[index].text == "in"


def _same(old: list[str], new: list[str]) -> bool:
    """Whether two texts are the same statement, or the same head of one."""
    return _tree(old) == _tree(new)


def _tree(lines: list[str]) -> str | None:
    text = textwrap.dedent("\n".join(lines)).strip()
    text = text[2:] if text.startswith("elif") else text
    if text.startswith("async "):
        text = text[len("async ") :]
    for candidate in (text, f"{text} pass"):
        try:
            return ast.dump(syntax_tree(candidate))
        except SyntaxError:
            continue
    return None

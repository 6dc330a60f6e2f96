"""Which text of a file libcst is given: a simple statement, the head of a compound one, or a statement as a whole.

All else of the file is not parsed again. Parsing alone what stands in a block needs a frame around it: see `Piece`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from migrator.resolve.syntax import children
from migrator.resolve.text import Text


@dataclass(frozen=True)
class Style:
    """What a file looks like: line break, and one level of indentation."""

    newline: str = "\n"
    unit: str = "    "


@dataclass(frozen=True)
class Piece:
    """Bytes ``start:end`` of a file, with what has to stand before and behind them so that they parse alone.

    Nothing of `before` and `after` is the file's, but that the indentation is kept: lines in brackets are known by it. What
    stands on one line and holds no block parses without a frame, which would be most of what libcst has to make nodes of.
    """

    start: int
    end: int
    before: str = ""
    after: str = ""
    indent: str = ""

    @property
    def hanging(self) -> str:
        """The indentation of further lines, where no frame gives it."""
        return "" if self.before else self.indent


def head(text: Text, owner: ast.AST, style: Style) -> Piece:
    """The piece of a simple statement, or of the head of a compound one, of a handler or of a case: up to its colon."""
    if isinstance(owner, ast.ExceptHandler):
        start, end = text.span(owner)[0], colon(text, owner)
        indent = indentation(text, start)
        return Piece(start, end, _frame(style, indent) + f"try: pass{style.newline}{indent}", " pass", indent)
    if _is_case(owner):
        pattern = text.span(owner.pattern)[0]  # type: ignore[attr-defined]
        start, end = text.source.rindex(b"case", 0, pattern), colon(text, owner)
        indent = indentation(text, start)
        return Piece(start, end, f"{_frame(style)}match _:{style.newline}{indent}", " pass", indent)
    start, end = whole_span(text, owner)
    indent = indentation(text, start)
    if not is_compound(owner):
        return Piece(start, end, _frame(style, indent) if _is_broken(text, start, end) else "", "", indent)
    if isinstance(owner, ast.If) and text.source[start : start + 4] == b"elif":
        start += 2
    last = colon(text, owner)
    is_match = type(owner).__name__ == "Match"  # whose first case shows another indentation than the file's
    frame = _frame(style, indent) if is_match or _is_broken(text, start, last) else ""
    after = f"{style.newline}{indent} case _: pass" if is_match else " pass"
    if isinstance(owner, ast.Try) or type(owner).__name__ == "TryStar":
        after += f"{style.newline}{indent if frame else ''}finally: pass"
    return Piece(start, last, frame, after, indent)


def whole(text: Text, node: ast.stmt, style: Style) -> Piece:
    """The piece of a statement with its body, the comments above it and behind it, where it has its lines for itself."""
    start, end = whole_span(text, node)
    indent = indentation(text, start)
    frame = _frame(style, indent)
    if isinstance(node, ast.If) and text.source[start : start + 4] == b"elif":
        return Piece(start + 2, text.line_span((start, end))[1], frame, "", indent)
    if not has_own_lines(text, (start, end)):
        return Piece(start, end, frame, "", indent)
    first, last = text.line_span((start, end))
    frame = frame[: len(frame) - len(indent)]
    return Piece(comments_above(text, first), last, frame, "", indent)


def has_own_lines(text: Text, span: tuple[int, int]) -> bool:
    """Whether nothing but a comment behind them stands on the lines of a span."""
    first, last = text.line_span(span)
    return not text.source[first : span[0]].strip() and text.skip_inline(span[1]) >= last


def comments_above(text: Text, line: int) -> int:
    """Where the comments right above a line begin; the line itself where there are none."""
    start = line
    while start:
        above = text.line_span((start - 1, start - 1))[0]
        line_above = text.source[above:start]
        if line_above.strip() and not text.is_comment(line_above):
            break
        start = above
    lines = text.source[start:line].splitlines(keepends=True)
    while lines and not lines[0].strip():
        start += len(lines.pop(0))
    return start


def is_owner(node: ast.AST) -> bool:
    """Whether a node has a piece of its own: statements, handlers and cases."""
    return isinstance(node, (ast.stmt, ast.ExceptHandler)) or _is_case(node)


def is_compound(node: ast.AST) -> bool:
    """Whether a statement has a head and a body."""
    return hasattr(node, "body") or hasattr(node, "cases")


def whole_span(text: Text, node: ast.AST) -> tuple[int, int]:
    """The span of a statement, with its decorators."""
    start, end = text.span(node)
    decorators = getattr(node, "decorator_list", [])
    return (text.source.rindex(b"@", 0, text.span(decorators[0])[0]) if decorators else start), end


def colon(text: Text, owner: ast.AST) -> int:
    """Where the head of a compound statement ends: behind its colon."""
    start, _ = text.span(owner if hasattr(owner, "lineno") else owner.pattern)  # type: ignore[attr-defined]
    position = max([start, *(text.span(part)[1] for part in _head_parts(owner))])
    position = text.skip(position)
    while text.source[position : position + 1] != b":":
        position = text.skip(position + 1)
    return position + 1


def _head_parts(owner: ast.AST) -> Iterator[ast.AST]:
    """The nodes in a head that have a place, but decorators, which stand before it."""
    for child in children(owner):
        if isinstance(child, (ast.stmt, ast.ExceptHandler)) or _is_case(child):
            continue
        if child in getattr(owner, "decorator_list", ()):
            continue
        if hasattr(child, "end_lineno"):
            yield child
        else:
            yield from _head_parts(child)


def _is_case(node: ast.AST) -> bool:
    return type(node).__name__ == "match_case"


def _is_broken(text: Text, start: int, end: int) -> bool:
    """Whether code goes over several lines."""
    return b"\n" in text.source[start:end] or b"\r" in text.source[start:end]


def _frame(style: Style, indent: str = "") -> str:
    """What comes before a statement: a block that shows what the file looks like, and one with the indentation."""
    if indent == style.unit:
        return f"if 1:{style.newline}{indent}"  # which is both
    shown = f"if 1:{style.newline}{style.unit}pass{style.newline}"
    return f"{shown}if 1:{style.newline}{indent}" if indent else shown


def indentation(text: Text, start: int) -> str:
    """The blanks that the line of a byte begins with."""
    line = text.source[text.line_span((start, start))[0] : start]
    return line[: len(line) - len(line.lstrip(b" \t\f"))].decode()

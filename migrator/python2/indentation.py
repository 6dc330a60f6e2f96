"""Indentation by tabs and blanks together, which Python 2 reads with tabs of eight and Python 3 refuses."""

from __future__ import annotations

import re
from collections.abc import Iterator

from fissix.pgen2 import token, tokenize

_BLANKS = re.compile(r"[ \t\f]*")
_LINES = re.compile(r"[^\n]*\n|[^\n]+")  # `splitlines` ends lines at form feeds
_TAB = 8
_UNIT = 4


def consistent(text: str) -> str:
    """`text` with four blanks for each level, if some of its statements begin with tabs and others with blanks.

    What stands inside of strings stays. Raises what says that the text has no tokens.
    """
    lines: list[str] = _LINES.findall(text)
    levels: dict[int, int] = {}
    inside: set[int] = set()
    for first, last, level in _tokens(lines):
        inside.update(range(first + 1, last + 1))
        if level is not None:
            levels[first] = level
    if {letter for number in levels for letter in _blanks(lines[number - 1])} - {"\f"} != {" ", "\t"}:
        return text
    return "".join(_indented(lines, levels, inside))


def _tokens(lines: list[str]) -> Iterator[tuple[int, int, int | None]]:
    """First and last line of each token with text in it, and how deep a statement is that begins with it."""
    waiting = iter(lines)
    level, begins = 0, True
    for kind, value, start, end, _ in tokenize.generate_tokens(lambda: next(waiting, "")):
        if kind in (token.INDENT, token.DEDENT):
            level += 1 if kind == token.INDENT else -1
        elif kind == token.NEWLINE:
            begins = True
        elif kind not in (tokenize.COMMENT, tokenize.NL) and value.strip():
            yield start[0], end[0], level if begins else None
            begins = False


def _indented(lines: list[str], levels: dict[int, int], inside: set[int]) -> Iterator[str]:
    """The lines, those that go on with a statement moved along with it, and comments with what follows them."""
    moved = 0
    following = {number: _UNIT * level - _column(lines[number - 1]) for number, level in levels.items()}
    columns: dict[int, int] = {}
    for number, line in enumerate(lines, 1):
        if number in levels:
            moved = following[number]
            columns = {column: by for column, by in columns.items() if column < _column(line)}
            columns[_column(line)] = moved
        if number in inside or not line.strip():
            yield line
            continue
        column, blanks = _column(line), _blanks(line)
        by = moved
        if number not in levels and line.lstrip().startswith("#"):
            beside = next((n for n in range(number, len(lines) + 1) if n in levels), 0)
            by = following[beside] if beside and _column(lines[beside - 1]) == column else columns.get(column, moved)
        yield "\f" * blanks.count("\f") + " " * max(0, column + by) + line[len(blanks) :]


def _blanks(line: str) -> str:
    found = _BLANKS.match(line)
    return found.group() if found is not None else ""


def _column(line: str) -> int:
    """How far a line is indented; after a form feed, columns are counted anew."""
    return len(_blanks(line).rpartition("\f")[2].expandtabs(_TAB))

"""How a notebook looks as one module: its code cells in order, each below a comment line that says which cell it is."""

from __future__ import annotations

import bisect
import re
from collections.abc import Iterator

from migrator.vocabulary.diagnostics import Location

SUFFIX = ".ipynb"

_BORDER = re.compile(r"^# %% migrate: cell (\d+)$", re.MULTILINE)


class CellBorder(Exception):
    """New text in which the cells of the notebook cannot be told apart any more, or a magic was changed."""


def border(number: int) -> str:
    """The line above the code of cell `number`; cells count from 1, those with prose too."""
    return f"# %% migrate: cell {number}\n"


def split(text: str) -> Iterator[tuple[int, str]]:
    """Number and text of each cell in the text of a module, without the line end that closes a cell."""
    borders = list(_BORDER.finditer(text))
    for here, following in zip(borders, [*borders[1:], None]):
        body = text[here.end() + 1 : following.start() if following else len(text)]
        yield int(here.group(1)), body[:-1] if body.endswith("\n") else body


def has_border(text: str) -> bool:
    """Whether a line of `text` looks like the border of a cell."""
    return _BORDER.search(text) is not None


class CellLines:
    """Where cells begin among the lines of a module."""

    def __init__(self, text: str) -> None:
        found = [(text.count("\n", 0, match.start()) + 1, int(match.group(1))) for match in _BORDER.finditer(text)]
        self._lines = [line for line, _ in found]
        self._numbers = [number for _, number in found]

    def location(self, path: str, line: int, column: int) -> Location:
        """The place of a line of the module, as its cell and the line there."""
        index = bisect.bisect_right(self._lines, line) - 1
        if index < 0:
            return Location(path, line, column)
        return Location(path, max(line - self._lines[index], 1), column, self._numbers[index])

    def begins(self, line: int) -> bool:
        """Whether a line of the module is the first one of a cell."""
        return line - 1 in self._lines

    def line(self, location: Location) -> int:
        """The line of the module for a place in a cell."""
        if location.cell not in self._numbers:
            return location.line
        return self._lines[self._numbers.index(location.cell)] + location.line

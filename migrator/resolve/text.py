"""The text of one source file: lines, byte spans of nodes, comments, and the edits that change it."""

from __future__ import annotations

import ast
import bisect
import itertools
import re
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Union

from migrator.discover.cells import SUFFIX, CellLines, has_border
from migrator.vocabulary.diagnostics import Edit, Location

_NEWLINE = re.compile(rb"\r\n|\r|\n")

Span = tuple[int, int]
Place = Union[ast.AST, Span]


def within(span: Span, spans: Iterable[Span]) -> bool:
    """Whether a span lies inside one of `spans`."""
    return any(start <= span[0] and span[1] <= end for start, end in spans)


class Spans:
    """Spans of one file that are asked about others: only those near a place are looked at."""

    _REACH = 8
    """Bits of an offset that do not matter for what is near."""

    def __init__(self, spans: Iterable[Span] = ()) -> None:
        self._near: dict[int, list[Span]] = {}
        self._every: list[Span] = []
        for span in spans:
            self.add(span)

    def __iter__(self) -> Iterator[Span]:
        return iter(self._every)

    def add(self, span: Span) -> None:
        """One more."""
        self._every.append(span)
        for place in range(span[0] >> self._REACH, (span[1] >> self._REACH) + 1):
            self._near.setdefault(place, []).append(span)

    def touch(self, span: Span) -> bool:
        """Whether one of them starts before the end of a span, and ends behind its start."""
        near = self._near
        return any(
            start < span[1] and span[0] < end
            for place in (range(span[0] >> self._REACH, (span[1] >> self._REACH) + 1) if near else ())
            for start, end in near.get(place, ())
        )

    def hold(self, span: Span) -> bool:
        """Whether a span lies inside one of them, as `within` tells of a few."""
        return within(span, self._near.get(span[0] >> self._REACH, ()))


def spans_of(edits: Iterable[Edit]) -> Spans:
    """The places of some edits of one file."""
    return Spans((edit.start, edit.end) for edit in edits)


class Text:
    """A decoded source file.

    `text` is the file without byte order mark; all offsets are bytes in its UTF-8 form, `source`.
    """

    def __init__(self, path: str, text: str) -> None:
        self.path = path
        self.text = text
        self.source: bytes = text.encode("utf-8", "surrogatepass")

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.path!r})"

    @cached_property
    def newline(self) -> str:
        """Line ending that new lines of this file should have: that of its first line."""
        found = _NEWLINE.search(self.source)
        return found.group().decode() if found else "\n"

    @cached_property
    def line_starts(self) -> list[int]:
        """Byte offset of the start of each line."""
        lines = self.source.splitlines(keepends=True)  # bytes: only \n, \r\n and \r end a line
        if lines and not lines[-1].endswith((b"\n", b"\r")):
            lines.pop()
        return [0, *itertools.accumulate(map(len, lines))]

    def offset(self, line: int, column: int) -> int:
        """Byte offset of a position as `ast` gives it: `line` from 1, `column` in bytes."""
        return self.line_starts[line - 1] + column

    def span(self, node: Place) -> Span:
        """Byte span of a node, without parentheses around it; a function or class starts at its `def`."""
        if isinstance(node, tuple):
            return node
        positioned: ast.expr = node  # type: ignore[assignment]
        assert positioned.end_lineno is not None and positioned.end_col_offset is not None
        return (
            self.offset(positioned.lineno, positioned.col_offset),
            self.offset(positioned.end_lineno, positioned.end_col_offset),
        )

    def segment(self, node: Place) -> str:
        """Source text of a node or span."""
        start, end = self.span(node)
        return self.source[start:end].decode("utf-8", "surrogatepass")

    def location(self, node: Union[Place, int]) -> Location:
        """Where a node, span or byte offset starts, with the column counted in characters."""
        start = node if isinstance(node, int) else self.span(node)[0]
        line = bisect.bisect_right(self.line_starts, start)
        before = self.source[self.line_starts[line - 1] : start]
        return self.located(line, len(before.decode("utf-8", "surrogatepass")) + 1)

    @cached_property
    def cells(self) -> CellLines | None:
        """Where the cells of a notebook begin; None for a plain file."""
        return CellLines(self.text) if self.path.endswith(SUFFIX) else None

    def located(self, line: int, column: int) -> Location:
        """The place of a line of this module, with the column counted in characters."""
        return self.cells.location(self.path, line, column) if self.cells else Location(self.path, line, column)

    def line_of(self, location: Location) -> int:
        """The line of this module that a location is about."""
        return self.cells.line(location) if self.cells else location.line

    def line_span(self, node: Place) -> Span:
        """Span of the whole lines that a node touches, with the last line's ending."""
        start, end = self.span(node)
        first = bisect.bisect_right(self.line_starts, start) - 1
        last = bisect.bisect_left(self.line_starts, end, lo=first + 1)
        stop = self.line_starts[last] if last < len(self.line_starts) else len(self.source)
        return self.line_starts[first], stop

    def indent(self, node: Place) -> str | None:
        """The blanks before a node at the beginning of its line; None where something else stands before it."""
        blanks = self.source[self.line_span(node)[0] : self.span(node)[0]].decode("utf-8", "surrogatepass")
        return None if blanks.strip() else blanks

    def above_comments(self, start: int) -> int:
        """Where the comment lines right above the line that begins at `start` begin; not those of another cell."""
        while start:
            above = self.source.rfind(b"\n", 0, start - 1) + 1
            if not self.is_comment(self.source[above:start]):
                break
            start = above
        return start

    def comments_above(self, node: Place) -> list[str]:
        """The comment lines right above a node, without the blanks before them."""
        end = self.line_span(node)[0]
        lines = self.segment((self.above_comments(end), end)).splitlines()
        return [line.strip() for line in lines]

    def comment_behind(self, node: Place) -> str:
        """The comment behind a node on its last line; empty without one."""
        end = self.span(node)[1]
        behind = self.segment((end, self.skip_inline(end))).strip()
        return behind if behind.startswith("#") else ""

    def is_comment(self, line: bytes) -> bool:
        """Whether a line holds nothing but a comment of the user's: the border of a cell looks like one."""
        is_border = self.cells is not None and has_border(line.decode("utf-8", "surrogatepass").rstrip())
        return line.lstrip().startswith(b"#") and not is_border

    def is_blank_above(self, start: int) -> bool:
        """Whether the line above the one that begins at `start` is blank."""
        return bool(start) and not self.source[self.line_span((start - 1, start - 1))[0] : start].strip()

    def is_paragraph(self, first: Place, last: Place) -> bool:
        """Whether nothing else stands between two blank lines than two nodes, what is between them, and comments above them."""
        (start, _), (_, end) = self.line_span(first), self.line_span(last)
        start = self.above_comments(start)
        ends = self.line_starts[bisect.bisect_right(self.line_starts, end) :][:1]
        if not ends or self.source[end : ends[0]].strip():
            return False
        return self.is_blank_above(start) and not self.comments_in(self.span(first)[0], self.span(last)[0])

    def skip_inline(self, position: int) -> int:
        """Past blanks and a comment to the next code on this line, or past the line's ending."""
        source = self.source
        while position < len(source) and source[position : position + 1] in (b" ", b"\t"):
            position += 1
        if position == len(source) or source[position : position + 1] in (b"#", b"\n", b"\r"):
            found = _NEWLINE.search(source, position)
            return found.end() if found else len(source)
        return position

    def skip(self, position: int) -> int:
        """First offset from `position` on that is neither white space, nor comment, nor line continuation."""
        source, end = self.source, len(self.source)
        while position < end:
            char = source[position : position + 1]
            if char in b" \t\r\n\f":
                position += 1
            elif char == b"#":
                found = _NEWLINE.search(source, position)
                position = found.start() if found else end
            elif char == b"\\" and source[position + 1 : position + 2] in (b"\n", b"\r"):
                position += 2
            else:
                break
        return position

    def skip_back(self, position: int) -> int:
        """Offset just after the last byte before `position` that is neither white space nor part of a comment."""
        source = self.source
        while position > 0:
            while position > 0 and source[position - 1 : position] in (b" ", b"\t", b"\r", b"\n", b"\f", b"\\"):
                position -= 1
            comment = self._comment_start(position)
            if comment is None:
                break
            position = comment
        return position

    def _comment_start(self, position: int) -> int | None:
        """Start of the comment that ends at `position`, which is the end of its line."""
        line = self.line_starts[bisect.bisect_right(self.line_starts, position - 1) - 1]
        if b"#" not in self.source[line:position]:  # most lines: no need to tokenize the file
            return None
        index = bisect.bisect_left(self._comments, position)
        for start in self._comments[max(0, index - 1) : index]:
            found = _NEWLINE.search(self.source, start)
            stop = found.start() if found else len(self.source)
            if start < position <= stop:
                return start
        return None

    @cached_property
    def _comments(self) -> list[int]:
        """Offsets of all comments, in order."""
        if b"#" not in self.source:
            return []
        import io
        import tokenize

        found = []
        try:
            # `tokenize` columns count characters; lines are those that `io.StringIO` splits, as in `line_starts`.
            for token in tokenize.generate_tokens(io.StringIO(self.text, newline=None).readline):
                if token.type == tokenize.COMMENT:
                    line, column = token.start
                    found.append(self.offset(line, len(token.line[:column].encode("utf-8", "surrogatepass"))))
        except (tokenize.TokenError, SyntaxError):  # `ast` accepts a few files that `tokenize` does not
            pass
        return found

    def in_comment(self, position: int) -> bool:
        """Whether a place is inside of a comment."""
        line = self.line_starts[bisect.bisect_right(self.line_starts, position) - 1]
        if b"#" not in self.source[line : position + 1]:  # most lines, as in `_comment_start`
            return False
        index = bisect.bisect_right(self._comments, position) - 1
        return index >= 0 and _NEWLINE.search(self.source, self._comments[index], position) is None

    def comments_in(self, start: int, end: int) -> bool:
        """Whether a comment starts inside the span."""
        if b"#" not in self.source[start:end]:
            return False
        index = bisect.bisect_left(self._comments, start)
        return index < len(self._comments) and self._comments[index] < end

    def edit(self, place: Place, text: str) -> Edit:
        """Replace a node or span by `text`."""
        start, end = self.span(place)
        return Edit(self.path, start, end, text)

    def insert(self, position: int, text: str) -> Edit:
        """Insert `text` at a byte offset."""
        return Edit(self.path, position, position, text)

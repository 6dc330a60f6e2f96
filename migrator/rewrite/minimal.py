"""Edits that lead from the text of a file to that of new nodes: what these hold of the file's own nodes is left out.

So a keyword that is added to a call is one small insertion, although the call as a whole was replaced, and fixes of calls
within each other do not overlap.
"""

from __future__ import annotations

import bisect
import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import libcst as cst

from migrator.resolve.text import Span, Text
from migrator.vocabulary.diagnostics import Edit

from .changes import Origin, Written
from .nodes import below
from .printing import Printed

_MARKS = b"()[]{}, \t\r\n:="
"""What is left alone at the ends of an edit where it stays. Names and strings go as a whole, so that one sees what changed."""

Extent = Callable[[cst.CSTNode], "Span | None"]
Source = Callable[[cst.CSTNode], "Origin | None"]


@dataclass(frozen=True)
class _Kept:
    old: Span
    new: Span


def rewritten(
    text: Text, region: Span, nodes: Sequence[cst.CSTNode], new: Printed, extent: Extent, source: Source | None
) -> list[Written]:
    """Edits that turn a region of a file into `new`, the text of `nodes`.

    `extent` says where a node stands in the file, and `source` where it was written, if it is not new; where
    that is not asked, the edits have no origins.
    """
    kept = _in_order(_kept(text, region, nodes, new, extent))
    borders = [_Kept((region[0],) * 2, (0, 0)), *kept, _Kept((region[1],) * 2, (len(new.text.encode()),) * 2)]
    data, origins = new.text.encode(), None if source is None else _Origins(new, nodes, source)
    found = []
    for one, other in zip(borders, borders[1:]):
        edit = _edit(text, (one.old[1], other.old[0]), data, (one.new[1], other.new[0]))
        if edit is not None:
            (start, end), (first, last) = edit
            piece = data[first:last].decode()
            found.append(
                Written(Edit(text.path, start, end, piece), origins.of(first, piece) if origins is not None else ())
            )
    return found


def _kept(text: Text, region: Span, nodes: Sequence[cst.CSTNode], new: Printed, extent: Extent) -> list[_Kept]:
    """The outermost nodes of the region that `nodes` hold as they are, in the order of the new text."""
    data, found = new.text.encode(), {}
    stack = list(nodes)
    while stack:
        node = stack.pop()
        old, now = extent(node), new.extents.get(id(node))
        if id(node) in found or now is None:
            continue
        within = old is not None and region[0] <= old[0] and old[1] <= region[1]
        if old is not None and within and text.source[old[0] : old[1]] == data[now[0] : now[1]]:
            found[id(node)] = _Kept(old, now)
        else:
            stack += below(node)
    return sorted(found.values(), key=lambda kept: (kept.new, kept.old))


def _in_order(kept: list[_Kept]) -> list[_Kept]:
    """Those that stand in the same order in both texts: as much text as there can be."""
    if all(one.old[1] <= other.old[0] and one.new[1] <= other.new[0] for one, other in zip(kept, kept[1:])):
        return kept
    best: list[tuple[int, int]] = []
    """Of each, the length of the best run that ends with it, and the one before it."""
    for index, one in enumerate(kept):
        fits = ((best[i][0], i) for i in range(index) if kept[i].old[1] <= one.old[0] and kept[i].new[1] <= one.new[0])
        length, before = max(fits, default=(0, -1))
        best.append((length + one.old[1] - one.old[0] + 1, before))
    at = max(range(len(kept)), key=lambda i: best[i][0], default=-1)
    run = []
    while at >= 0:
        run.append(kept[at])
        at = best[at][1]
    return run[::-1]


def _edit(text: Text, old: Span, data: bytes, new: Span) -> tuple[Span, Span] | None:
    """What differs between two nodes that stay, in the old and in the new text."""
    (start, end), (first, last) = old, new
    while start < end and first < last and text.source[start] == data[first] and data[first] in _MARKS:
        start, first = start + 1, first + 1
    while start < end and first < last and text.source[end - 1] == data[last - 1] and data[last - 1] in _MARKS:
        end, last = end - 1, last - 1
    return None if text.source[start:end] == data[first:last] else ((start, end), (first, last))


class _Origins:
    """Where the lines of a new text were written first."""

    def __init__(self, new: Printed, nodes: Sequence[cst.CSTNode], source: Source) -> None:
        data = new.text.encode()
        self._starts = [0, *itertools.accumulate(len(line) for line in data.splitlines(keepends=True))]
        self._lines: dict[int, Origin] = {}
        places: list[tuple[Span, Origin]] = []
        stack = list(nodes)
        while stack:
            node = stack.pop()
            origin, place = source(node), new.extents.get(id(node))
            if origin is None or place is None:
                stack += below(node)
            elif place[0] < place[1] and data[place[0] : place[1]].strip():
                places.append((place, origin))
        for (start, end), (path, line) in sorted(places):
            first, last = self._line(start), self._line(end - 1)
            for number in range(first, last + 1):
                self._lines.setdefault(number, (path, line + number - first))

    def of(self, start: int, piece: str) -> tuple[Origin | None, ...]:
        """Of each line of a piece of the text that begins at a byte."""
        first = self._line(start)
        return tuple(self._lines.get(first + index) for index in range(len(piece.splitlines()) or 1))

    def _line(self, position: int) -> int:
        return bisect.bisect_right(self._starts, position) - 1

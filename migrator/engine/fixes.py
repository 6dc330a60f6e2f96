"""Arithmetic of edits: which fixes may be applied together, and splicing them into a text."""

from __future__ import annotations

import bisect
import contextlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Callable

from migrator.rewrite import Change, Unprintable
from migrator.vocabulary.diagnostics import Diagnostic, Edit, Fix

if TYPE_CHECKING:
    from migrator.resolve.module import Module


@dataclass
class _Taken:
    """Disjoint edits of one file; `starts` runs parallel to `edits`, sorted."""

    starts: list[int] = field(default_factory=list)
    edits: list[Edit] = field(default_factory=list)

    def conflicts(self, edit: Edit) -> bool:
        position = bisect.bisect_left(self.starts, edit.start)
        # As the edits are disjoint, of those that start before only the last can reach into this one; an insertion may
        # start at the same place as it.
        before = position - 1
        while before >= 0 and self.starts[before] == self.starts[position - 1]:
            if overlap(self.edits[before], edit):
                return True
            before -= 1
        while position < len(self.edits) and self.starts[position] <= edit.end:
            if overlap(self.edits[position], edit):
                return True
            position += 1
        return False

    def add(self, edit: Edit) -> None:
        position = bisect.bisect_right(self.starts, edit.start)
        self.starts.insert(position, edit.start)
        self.edits.insert(position, edit)


class Selection:
    """Fixes chosen to be applied together."""

    def __init__(self) -> None:
        self._files: dict[str, _Taken] = {}
        self._owned: set[Edit] = set()

    def add(self, fix: Fix) -> bool:
        """Take all edits of `fix`, or none where one of them overlaps an edit that was taken before.

        An edit that another fix also has, such as the same import, is shared.
        """
        new = [edit for edit in dict.fromkeys(fix.edits) if not (edit in self._owned and _shareable(edit))]
        if _overlap(new):
            return False
        if any(self._files.setdefault(edit.path, _Taken()).conflicts(edit) for edit in new):
            return False
        for edit in new:
            self._files[edit.path].add(edit)
            self._owned.add(edit)
        return True

    def edits(self) -> dict[str, list[Edit]]:
        """The chosen edits of each file that has any."""
        return {path: list(taken.edits) for path, taken in self._files.items() if taken.edits}


def printed_fixes(module: Module, title: str, changes: Iterable[Change]) -> list[Fix]:
    """A fix for each change of a file that can be printed."""
    found = []
    for change in changes:
        with contextlib.suppress(Unprintable):
            found.append(Fix(title, tuple(module.cst.apply([change]))))
    return found


def refusal(fix: Fix, chosen: Iterable[Diagnostic], line: Callable[[Edit], str]) -> str:
    """Why `fix` cannot be applied beside those of `chosen`: what clashes, and where, as `line` says it of an edit."""
    if pair := _overlap(list(dict.fromkeys(fix.edits))):
        return f"two of its own changes overlap, at {line(pair[0])} and {line(pair[1])}"
    for other in chosen:
        both = Selection()
        if other.fix is not None and both.add(other.fix) and not both.add(fix):
            return f"it changes the same code as {other.code} at {other.location}"
    return ""


def _overlap(edits: Iterable[Edit]) -> tuple[Edit, Edit] | None:
    ordered = sorted(edits, key=_span)
    return next(
        ((one, other) for one, other in zip(ordered, ordered[1:]) if one.path == other.path and _clash(one, other)),
        None,
    )


def _span(edit: Edit) -> tuple[str, int, int]:
    return edit.path, edit.start, edit.end


def _shareable(edit: Edit) -> bool:
    # The same piece of a line inserted twice, such as a closing parenthesis, is meant twice.
    return edit.end > edit.start or edit.text.endswith("\n")


def _clash(one: Edit, other: Edit) -> bool:
    return one.start < other.end and other.start < one.end


def overlap(one: Edit, other: Edit) -> bool:
    """Whether edits of two fixes to one file get into each other's way.

    Insertions at one place do, unless both are whole lines: which should come first is not known.
    """
    if one.start == one.end == other.start == other.end:
        return not (one.text.endswith("\n") and other.text.endswith("\n"))
    return _clash(one, other)


def splice(data: bytes, edits: Iterable[Edit]) -> bytes:
    """`data` with disjoint edits applied; of insertions at one place, those first in `edits` come first.

    Raises ValueError for edits that overlap or lie outside of `data`.
    """
    parts: list[bytes] = []
    position = 0
    for edit in in_order(edits):
        if not position <= edit.start <= edit.end <= len(data):
            raise ValueError(f"edit {edit.start}:{edit.end} overlaps another, or lies outside of the text")
        parts += [data[position : edit.start], edit.text.encode("utf-8")]
        position = edit.end
    parts.append(data[position:])
    return b"".join(parts)


def in_order(edits: Iterable[Edit]) -> list[Edit]:
    """Edits of one file as they are spliced; imports that are inserted at one place are sorted."""
    return sorted(edits, key=lambda edit: (edit.start, edit.end, _imported(edit)))


def _imported(edit: Edit) -> str:
    line = edit.start == edit.end and edit.text.endswith("\n") and edit.text.count("\n") == 1
    return edit.text if line and edit.text.startswith(("import ", "from ")) else ""

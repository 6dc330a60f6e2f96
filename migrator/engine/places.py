"""Where a place in rewritten text was in the original: users look at the file that they have."""

from __future__ import annotations

import bisect
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from migrator.engine.counterparts import Words
from migrator.engine.fixes import in_order
from migrator.resolve.module import Module
from migrator.vocabulary.diagnostics import Diagnostic, Edit, Fix, Location


@dataclass(frozen=True)
class Shift:
    """Maps offsets of the text after one splice back to the text before it."""

    starts: tuple[int, ...]
    """Where each replacement starts in the new text, ascending."""
    ends: tuple[int, ...]
    old_starts: tuple[int, ...]
    old_ends: tuple[int, ...]
    texts: tuple[tuple[Words, Words], ...]
    """What was replaced, and by what."""

    @classmethod
    def of(cls, edits: Iterable[Edit], source: bytes) -> Shift:
        """The map of one splice into `source`."""
        starts, ends, old_starts, old_ends, texts = [], [], [], [], []
        shift = 0
        for edit in in_order(edits):
            new = edit.text.encode("utf-8")
            size = len(new)
            starts.append(edit.start + shift)
            ends.append(edit.start + shift + size)
            old_starts.append(edit.start)
            old_ends.append(edit.end)
            texts.append((Words(source[edit.start : edit.end]), Words(new)))
            shift += size - (edit.end - edit.start)
        return cls(tuple(starts), tuple(ends), tuple(old_starts), tuple(old_ends), tuple(texts))

    def back(self, offset: int) -> tuple[int, bool]:
        """The old offset, and whether it is exact; inside of new text it is that of what the place seems to come from, or the
        start of what was replaced."""
        index = bisect.bisect_right(self.starts, offset) - 1
        if index < 0:
            return offset, True
        start, old_start = self.starts[index], self.old_starts[index]
        if offset < self.ends[index]:
            if offset == start:
                return old_start, self.old_ends[index] > old_start
            old, new = self.texts[index]
            return old_start + (new.counterpart(offset - start, old) or 0), False
        return offset - self.ends[index] + self.old_ends[index], True

    def forward(self, offset: int) -> int:
        """The new offset; inside of replaced text it is that of what seems to come from the place, or the start of what replaced
        it."""
        index = bisect.bisect_right(self.old_starts, offset) - 1
        if index < 0:
            return offset
        start, old_start = self.starts[index], self.old_starts[index]
        if offset < self.old_ends[index]:
            old, new = self.texts[index]
            return start + (old.counterpart(offset - old_start, new) or 0) if offset > old_start else start
        return offset - self.old_ends[index] + self.ends[index]


def back(shifts: Sequence[Shift], offset: int) -> tuple[int, bool]:
    """Through several splices, the last first, to the original text."""
    exact = True
    for shift in reversed(shifts):
        offset, hit = shift.back(offset)
        exact = exact and hit
    return offset, exact


def offset_of(module: Module, location: Location) -> int:
    """Byte offset of a location."""
    starts = module.line_starts
    line = min(module.line_of(location), len(starts))
    stop = starts[line] if line < len(starts) else len(module.source)
    text = module.source[starts[line - 1] : stop].decode("utf-8", "surrogatepass")
    return starts[line - 1] + len(text[: location.column - 1].encode("utf-8", "surrogatepass"))


def in_original(
    diagnostic: Diagnostic,
    shifts: Mapping[str, Sequence[Shift]],
    now: Mapping[str, Module],
    original: Mapping[str, Module],
) -> Diagnostic:
    """`diagnostic`, made for the modules `now`, with places of the `original` ones, from which `shifts` led to `now`.

    A fix that changes text which did not exist in the original has no edits afterwards.
    """
    path = diagnostic.location.path
    if shifts.get(path) and path in original:
        offset, _ = back(shifts[path], offset_of(now[path], diagnostic.location))
        diagnostic = replace(diagnostic, location=original[path].location(offset))
    fix = diagnostic.fix
    if fix is None or not any(shifts.get(edit.path) for edit in fix.edits):
        return diagnostic
    return replace(diagnostic, fix=_fix_in_original(fix, shifts, now, original))


def in_result(
    diagnostic: Diagnostic,
    shifts: Mapping[str, Sequence[Shift]],
    original: Mapping[str, Module],
    result: Mapping[str, Module],
) -> Diagnostic:
    """A `diagnostic` about the original, with its place in the result."""
    path = diagnostic.location.path
    if not shifts.get(path):
        return diagnostic
    offset = offset_of(original[path], diagnostic.location)
    for shift in shifts[path]:
        offset = shift.forward(offset)
    return replace(diagnostic, location=result[path].location(offset))


def _fix_in_original(
    fix: Fix, shifts: Mapping[str, Sequence[Shift]], now: Mapping[str, Module], original: Mapping[str, Module]
) -> Fix:
    edits: list[Edit] = []
    for edit in fix.edits:
        start, start_exact = back(shifts.get(edit.path, ()), edit.start)
        end, end_exact = back(shifts.get(edit.path, ()), edit.end)
        same = original[edit.path].source[start:end] == now[edit.path].source[edit.start : edit.end]
        if not (start_exact and end_exact and same):
            return replace(fix, edits=())
        edits.append(replace(edit, start=start, end=end))
    return replace(fix, edits=tuple(edits))

"""Where the places of a report stand once the files are written: a user then looks at the new text."""

from __future__ import annotations

import bisect
import functools
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from difflib import SequenceMatcher

from migrator.discover.cells import SUFFIX
from migrator.discover.sources import Unusable, decode
from migrator.report.linediff import matching_blocks
from migrator.vocabulary.diagnostics import Location, Outcome, ProgramUnit

_PLACE = re.compile(r"(?P<path>[^\s():]+):(?P<line>\d+)(?::(?P<column>\d+))?")
_DEFINITION = re.compile(r"\s*(?:(?:class|def|async def)\b|@)")


def placed_in_result(outcomes: Sequence[Outcome], written: Collection[str]) -> list[Outcome]:
    """The outcomes with the programs, and the lines that their reasons name, placed in the text written.

    What remains to be done is placed there already; where a file was not written, the old places hold.
    """
    moved = {
        o.path: _Lines(o.path, o.start, o.after) for o in outcomes if o.status == "changed" and o.path in set(written)
    }
    return [replace(o, units=tuple(_unit(unit, moved) for unit in o.units)) if o.units else o for o in outcomes]


def placed_in_original(outcomes: Sequence[Outcome]) -> list[Outcome]:
    """The outcomes with the programs, and the lines that their reasons name, placed in the text before it was converted."""
    moved = {o.path: _Lines(o.path, o.converted, o.before) for o in outcomes if o.converted}
    return [replace(o, units=tuple(_unit(unit, moved) for unit in o.units)) if moved else o for o in outcomes]


def unwritten_stay(
    outcomes: Sequence[Outcome], written: Collection[str], causes: Mapping[str, str] | None = None
) -> list[Outcome]:
    """The outcomes with the programs that would have moved, but have a file that could not be written, left as they were.

    `causes` names the file that kept another from being written.
    """
    missing = {o.path for o in outcomes if o.status in ("changed", "created")} - set(written)
    causes = causes or {}

    def staying(unit: ProgramUnit, path: str) -> ProgramUnit:
        lacking = sorted({path, *unit.files} & missing)
        if unit.tier == "manual" or not lacking:
            return unit
        reason = f"{causes.get(lacking[0], lacking[0])} was not written (could become {unit.tier})"
        return replace(unit, tier="manual", reason=reason, others=(), variables=(), helpers="")

    return [replace(o, units=tuple(staying(unit, o.path) for unit in o.units)) if missing else o for o in outcomes]


def _unit(unit: ProgramUnit, moved: Mapping[str, _Lines]) -> ProgramUnit:
    lines = moved.get(unit.location.path)
    location = unit.location if lines is None else lines.location(unit.location)

    def place(found: re.Match[str]) -> str:
        there = moved.get(found["path"])
        if there is None:
            return found[0]
        if found["column"] is None:
            return f"{found['path']}:{there.line(int(found['line']))}"
        return str(there.location(Location(found["path"], int(found["line"]), int(found["column"]))))

    reason, helpers, *others = (_PLACE.sub(place, text) for text in (unit.reason, unit.helpers, *unit.others))
    return replace(unit, location=location, reason=reason, helpers=helpers, others=tuple(others))


class _Lines:
    """The lines of one file before and after; of a notebook, those of each cell."""

    def __init__(self, path: str, before: bytes, after: bytes) -> None:
        self._path = path
        self._texts = (before, after)

    @functools.cached_property
    def _cells(self) -> dict[int, tuple[list[str], list[str]]]:
        path, texts = self._path, self._texts
        if path.endswith(SUFFIX):
            from migrator.discover.notebooks import code_cells

            old, new = (code_cells(path, raw) for raw in texts)
            return {number: (text.splitlines(), new.get(number, text).splitlines()) for number, text in old.items()}
        try:
            before, after = (decode(path, raw).text.split("\n") for raw in texts)
        except Unusable:
            return {}
        return {0: (before, after)}

    def location(self, old: Location) -> Location:
        """Where the code of `old` stands now; of a definition that was rewritten, the one in its place."""
        before, after = self._cells.get(old.cell, ([], []))
        line = _moved(before, after, old.line)
        if not 0 < line <= len(after) or not 0 < old.line <= len(before):
            return old
        text = after[line - 1]
        same = text == before[old.line - 1]
        return replace(old, line=line, column=old.column if same else len(text) - len(text.lstrip()) + 1)

    def line(self, old: int) -> int:
        """The number that a line of a module has now."""
        before, after = self._cells.get(0, ([], []))
        return _moved(before, after, old) if before else old


def _moved(before: Sequence[str], after: Sequence[str], line: int) -> int:
    """The new number of a line. Empty lines pair with any others, so they are left out of the comparison."""
    old, new = ([number for number, text in enumerate(lines, 1) if text.strip()] for lines in (before, after))
    index = bisect.bisect_left(old, line)
    blocks = matching_blocks([before[number - 1] for number in old], [after[number - 1] for number in new])
    at = bisect.bisect_right([block[0] for block in blocks], index) - 1
    start, new_start, size = blocks[at] if at >= 0 else (0, 0, 0)
    if index < start + size:
        return new[new_start + index - start]
    gap = new[new_start + size : blocks[at + 1][1] if at + 1 < len(blocks) else None]
    text = before[line - 1] if 0 < line <= len(before) else ""
    if _DEFINITION.match(text):
        gap = [number for number in gap if _DEFINITION.match(after[number - 1])][:1] or gap
    if not gap:
        return min(line, len(after))
    return max(gap, key=lambda number: SequenceMatcher(None, text, after[number - 1]).ratio())

"""The files that a run wrote, with how much of them is new."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from migrator.discover.cells import SUFFIX
from migrator.report.linediff import matching_blocks
from migrator.report.text import Line, count
from migrator.vocabulary.diagnostics import Diagnostic, Outcome


def lines(outcomes: Sequence[Outcome], written: Collection[str]) -> Iterator[Line]:
    """One line for each file written; a change of several files counts in each."""
    applied = [item for outcome in outcomes for item in outcome.applied]
    for outcome in outcomes:
        if outcome.path not in written:
            continue
        if outcome.status == "created":
            yield Line(f"wrote {outcome.path}: new, {count(outcome.after.count(10), 'line')}", "green")
        else:
            added, removed = changed_lines(outcome)
            changes = sum(outcome.path == item.location.path or _touches(item, outcome.path) for item in applied)
            counted = f"{count(changes, 'change')}, " if changes else ""
            yield Line(f"wrote {outcome.path}: {counted}{count(added, 'line')} added, {removed} removed", "green")


def _touches(item: Diagnostic, path: str) -> bool:
    return item.fix is not None and path in item.fix.paths


def changed_lines(outcome: Outcome) -> tuple[int, int]:
    """Lines added and removed; of a notebook, in its code cells."""
    before, after = (_lines(outcome.path, raw) for raw in (outcome.before, outcome.after))
    kept = sum(size for _, _, size in matching_blocks(before, after))
    return len(after) - kept, len(before) - kept


def _lines(path: str, raw: bytes) -> list[str]:
    if path.endswith(SUFFIX):
        from migrator.discover.notebooks import code_cells

        return [line for text in code_cells(path, raw).values() for line in text.splitlines()]
    return raw.decode("utf-8", "replace").splitlines()

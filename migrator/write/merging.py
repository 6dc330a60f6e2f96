"""Joins what a user edited with what else changed in the same file."""

from __future__ import annotations

from collections.abc import Sequence

from migrator.report.linediff import matching_blocks

Change = tuple[int, int, tuple[str, ...]]
"""Lines from the first to before the second of the base, and what stands there instead."""


class Conflict(Exception):
    """Both sides changed the same lines."""


def merge(base: str, ours: str, theirs: str) -> str:
    """`ours` with the changes that led from `base` to `theirs`. Raises Conflict."""
    if base in (ours, theirs):
        return theirs if base == ours else ours
    lines = base.splitlines(keepends=True)
    mine, yours = (_changes(lines, text.splitlines(keepends=True)) for text in (ours, theirs))
    joined = sorted({*mine, *yours})
    for one, other in zip(joined, joined[1:]):
        if other[0] < one[1] or other[0] == one[0]:
            raise Conflict
    result: list[str] = []
    position = 0
    for start, stop, new in joined:
        result += [*lines[position:start], *new]
        position = stop
    return "".join([*result, *lines[position:]])


def _changes(base: Sequence[str], text: Sequence[str]) -> list[Change]:
    found: list[Change] = []
    i = j = 0
    for start, new_start, size in [*matching_blocks(base, text), (len(base), len(text), 0)]:
        if start > i or new_start > j:
            found.append((i, start, tuple(text[j:new_start])))
        i, j = start + size, new_start + size
    return found

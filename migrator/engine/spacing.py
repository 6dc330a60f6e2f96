"""Blank lines around lines that go: those of one side are enough."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from migrator.vocabulary.diagnostics import Edit

_BLANKS = re.compile(rb"(?:[ \t]*\r?\n)*")


def spaced(source: bytes, edits: Iterable[Edit]) -> list[Edit]:
    """Edits of a file; those that take whole lines away take blank lines along, which would else add up with those above."""
    found = list(edits)
    order = sorted(range(len(found)), key=lambda index: (found[index].start, found[index].end))
    begin = 0
    for place, index in enumerate(order):
        edit = found[index]
        if not _takes_lines(source, edit):
            continue
        before = found[order[place - 1]] if place else None
        if before is None or before.end != edit.start or not _takes_lines(source, before):
            begin, above, known = edit.start, _above(source, edit.start), before
        after = found[order[place + 1]] if place + 1 < len(order) else None
        below = _BLANKS.match(source, edit.end)
        assert below is not None
        if after is not None and after.start <= below.end():
            continue  # something else stands there
        if known is not None and (known.end > begin - above[0] or known.end == begin):
            continue
        lines = below.group().splitlines(keepends=True)
        gone = lines if above[1] is None else lines[: above[1]]
        found[index] = replace(edit, end=edit.end + sum(map(len, gone)))
    return found


def _takes_lines(source: bytes, edit: Edit) -> bool:
    """Whether an edit leaves nothing of some lines."""
    ends = [at == 0 or source[at - 1 : at] == b"\n" for at in (edit.start, edit.end)]
    return not edit.text and edit.start < edit.end and all(ends)


def _above(source: bytes, at: int) -> tuple[int, int | None]:
    """Bytes and number of the blank lines above a place; no number where a block or the file begins there."""
    lines, size, count = source[:at].splitlines(keepends=True), 0, 0
    while lines and not lines[-1].strip():
        size, count = size + len(lines.pop()), count + 1
    opens = not lines or (lines[-1].rstrip().endswith(b":") and not count)
    return size, None if opens else count

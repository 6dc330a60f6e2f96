"""From one text to another, as edits that are as small as lines tell."""

from __future__ import annotations

import re
from collections.abc import Iterator

from migrator.discover.sources import SourceFile
from migrator.engine.fixes import splice
from migrator.report.linediff import matching_blocks
from migrator.resolve.module import Module
from migrator.vocabulary.diagnostics import Edit

LINE_END = re.compile(r"\r\n|\r|\n")


def edits_to(source: SourceFile, new: str) -> tuple[Edit, ...]:
    """What makes `new`, which has plain line ends, of the text of a file, whose line ends stay."""
    edits = tuple(_edits(source, new))
    text = splice(source.data, edits).decode("utf-8")
    if LINE_END.sub("\n", text) == new:
        return edits
    whole = new.replace("\n", source.newline) if source.mixed else new
    return (Edit(source.path, 0, len(source.data), whole),)


def _edits(source: SourceFile, new: str) -> Iterator[Edit]:
    """What leads from the text of a file to `new`, line by line where lines pair."""
    starts = [*Module(source.path, source.text, lenient=True).line_starts, len(source.data)]
    ends = source.newline if source.mixed else "\n"
    old_lines = LINE_END.split(source.text)
    new_lines = new.split("\n")

    def block(first: int, last: int, start: int, stop: int) -> Iterator[Edit]:
        if last - first == stop - start:
            for number, line in zip(range(first, last), new_lines[start:stop]):
                yield from _within(source.path, starts[number], old_lines[number], line)
        else:
            lines = new_lines[start:stop]
            at_end = last >= len(old_lines)
            text = ends.join(lines) if at_end else "".join(line + ends for line in lines)
            begin, end = starts[min(first, len(starts) - 1)], starts[min(last, len(starts) - 1)]
            yield Edit(source.path, begin, end, text)

    at = new_at = 0
    for start, new_start, size in [*matching_blocks(old_lines, new_lines), (len(old_lines), len(new_lines), 0)]:
        if start > at or new_start > new_at:
            yield from block(at, start, new_at, new_start)
        at, new_at = start + size, new_start + size


def _within(path: str, offset: int, old: str, new: str) -> Iterator[Edit]:
    """The one replacement that leads from a line to another."""
    if old == new:
        return
    head = 0
    while head < min(len(old), len(new)) and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < min(len(old), len(new)) - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    start = offset + len(old[:head].encode())
    end = offset + len(old[: len(old) - tail].encode())
    yield Edit(path, start, end, new[head : len(new) - tail])

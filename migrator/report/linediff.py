"""Unified diffs in nearly linear time.

`difflib` alone takes ten seconds for a thousand changes in fifty thousand lines. Lines that occur once on both sides are
paired first ("patience diff"), which leaves it only short gaps.
"""

from __future__ import annotations

import bisect
from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

Block = tuple[int, int, int]
"""Start in the old lines, start in the new lines, and number of equal lines."""

_CONTEXT = 3
_SHORT = 400
"""Lines of a gap up to which an exact comparison is affordable."""
_WINDOW = 100


def unified_diff(before: Sequence[str], after: Sequence[str], old: str, new: str) -> Iterator[str]:
    """Lines of a unified diff, with the line ends of the input; nothing for equal input."""
    if not before and after:
        yield f"--- {old}\n"
        yield f"+++ {new}\n"
        yield f"@@ -0,0 +{_range(0, len(after))} @@\n"
        yield from ("+" + line for line in after)
        return
    started = False
    for group in _Matcher(before, after).get_grouped_opcodes(_CONTEXT):
        if not started:
            started = True
            yield f"--- {old}\n"
            yield f"+++ {new}\n"
        first, last = group[0], group[-1]
        yield f"@@ -{_range(first[1], last[2])} +{_range(first[3], last[4])} @@\n"
        for tag, start, stop, new_start, new_stop in group:
            if tag == "equal":
                yield from (" " + line for line in before[start:stop])
            else:
                yield from ("-" + line for line in before[start:stop])
                yield from ("+" + line for line in after[new_start:new_stop])


def _range(start: int, stop: int) -> str:
    length = stop - start
    if length == 1:
        return str(start + 1)
    return f"{start + 1 if length else start},{length}"  # an empty range counts from the line before


class _Matcher(SequenceMatcher[str]):
    """Opcodes of `SequenceMatcher` over the blocks of `matching_blocks`."""

    def __init__(self, before: Sequence[str], after: Sequence[str]) -> None:
        super().__init__(None, "", "")
        self._blocks = matching_blocks(before, after)
        self._end = (len(before), len(after), 0)

    def get_matching_blocks(self) -> list[tuple[int, int, int]]:  # type: ignore[override]  # tuples will do
        """Blocks with the empty one at the end that opcodes are made from."""
        return [*self._blocks, self._end]


def matching_blocks(before: Sequence[str], after: Sequence[str]) -> list[Block]:
    """Maximal runs of equal lines, ascending on both sides."""
    blocks: list[Block] = []
    i = j = start = new_start = 0  # where to go on, and where the present run of equal lines began
    end = (len(before), len(after))
    for next_i, next_j in [*_anchors(before, after), end]:
        if next_i != i or next_j != j:
            blocks.append((start, new_start, i - start))
            blocks += _gap_blocks(before, after, (i, j), (next_i, next_j))
            start, new_start = next_i, next_j
        i, j = next_i + 1, next_j + 1
    blocks.append((start, new_start, len(before) - start))
    return _joined(blocks)


def _gap_blocks(
    before: Sequence[str], after: Sequence[str], start: tuple[int, int], stop: tuple[int, int]
) -> Iterator[Block]:
    """Equal lines between two anchors: first those at both ends."""
    (i, j), (next_i, next_j) = start, stop
    while i < next_i and j < next_j and before[i] == after[j]:
        i, j = i + 1, j + 1
    yield start[0], start[1], i - start[0]
    tail = 0
    while next_i - tail > i and next_j - tail > j and before[next_i - tail - 1] == after[next_j - tail - 1]:
        tail += 1
    gap, new_gap = before[i : next_i - tail], after[j : next_j - tail]
    if gap and new_gap:
        yield from ((i + a, j + b, 1) for a, b in _gap_pairs(gap, new_gap))
    yield next_i - tail, next_j - tail, tail


def _gap_pairs(before: Sequence[str], after: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Equal lines of a gap without lines that occur just once."""
    if max(len(before), len(after)) <= _SHORT:
        for a, b, size in SequenceMatcher(None, before, after, autojunk=False).get_matching_blocks():
            yield from ((a + step, b + step) for step in range(size))
        return
    # Repetitive text: go on where the next lines agree again, which is linear and finds local changes.
    i = j = 0
    while i < len(before) and j < len(after):
        if before[i] == after[j]:
            yield i, j
            i, j = i + 1, j + 1
        else:
            skip, new_skip = _next_agreement(before, after, i, j)
            i, j = i + skip, j + new_skip


def _next_agreement(before: Sequence[str], after: Sequence[str], i: int, j: int) -> tuple[int, int]:
    """The fewest lines to skip on both sides so that the next few agree."""
    for total in range(1, _WINDOW):
        for skip in range(total + 1):
            a, b = i + skip, j + total - skip
            if before[a : a + _CONTEXT] == after[b : b + _CONTEXT] and a < len(before):
                return skip, total - skip
    return _WINDOW, _WINDOW


def _anchors(before: Sequence[str], after: Sequence[str]) -> list[tuple[int, int]]:
    """The longest ascending series of lines that occur exactly once on either side."""
    old, new = Counter(before), Counter(after)
    place = {line: number for number, line in enumerate(after) if new[line] == 1}
    unique = [(i, place[line]) for i, line in enumerate(before) if old[line] == 1 and line in place]
    if all(one[1] < other[1] for one, other in zip(unique, unique[1:])):  # nothing has moved
        return unique
    ends: list[int] = []
    chains: list[int] = []  # for each length, the index of the pair that ends the best series
    previous: list[int] = []
    for index, (_, j) in enumerate(unique):
        length = bisect.bisect_left(ends, j)
        previous.append(chains[length - 1] if length else -1)
        ends[length : length + 1] = [j]
        chains[length : length + 1] = [index]
    series: list[tuple[int, int]] = []
    index = chains[-1] if chains else -1
    while index >= 0:
        series.append(unique[index])
        index = previous[index]
    return series[::-1]


def _joined(parts: Sequence[Block]) -> list[Block]:
    blocks: list[Block] = []
    for i, j, size in parts:
        if blocks and blocks[-1][0] + blocks[-1][2] == i and blocks[-1][1] + blocks[-1][2] == j:
            blocks[-1] = (blocks[-1][0], blocks[-1][1], blocks[-1][2] + size)
        elif size:
            blocks.append((i, j, size))
    return blocks

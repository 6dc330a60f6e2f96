"""Which place of a text that was replaced a place of the new text stands for, told by the words around it."""

from __future__ import annotations

import bisect
import re
from collections.abc import Iterator
from functools import cached_property

_WORD = re.compile(rb"[\w\x80-\xff]+|[^\w\s]")
_AROUND = ((24, 24), (8, 8), (3, 6))
"""Words before and behind a place that have to be the same, best first."""
_NAME = (0, 3)
"""Those of ``tf.where`` alone: enough for a place itself, not for others of its line."""


class Words:
    """The words of a text, to find places by what stands around them."""

    def __init__(self, text: bytes) -> None:
        self._text = text
        self._known: dict[tuple[int, int], dict[int, list[int]]] = {}

    @cached_property
    def _words(self) -> list[bytes]:
        return _WORD.findall(self._text)

    @cached_property
    def _starts(self) -> list[int]:
        return [found.start() for found in _WORD.finditer(self._text)]

    def counterpart(self, offset: int, other: Words) -> int | None:
        """The offset in another text that `offset` stands for; None where nothing is like it. Of several that are alike it is the
        one of the same number."""
        index = bisect.bisect_right(self._starts, offset) - 1
        if index < 0:
            return None
        for place, around in self._tries(index):
            key = self._key(place, around)
            found = other._places(around).get(key)
            if found:
                rank = bisect.bisect_left(self._places(around)[key], place)
                return other._starts[found[min(rank, len(found) - 1)]]
        return None

    def _tries(self, index: int) -> Iterator[tuple[int, tuple[int, int]]]:
        """Where to look, and at how many words: a word itself first, then the others of its line, the nearest first."""
        for around in (*_AROUND, _NAME):
            yield index, around
        start = self._text.rfind(b"\n", 0, self._starts[index]) + 1
        end = self._text.find(b"\n", start)
        first = bisect.bisect_left(self._starts, start)
        last = bisect.bisect_left(self._starts, end) if end >= 0 else len(self._starts)
        for place in sorted(range(first, last), key=lambda place: abs(place - index)):
            for around in _AROUND:
                yield place, around

    def _key(self, index: int, around: tuple[int, int]) -> int:
        before, behind = min(index, around[0]), around[1]
        return hash((before, *self._words[index - before : index + behind]))

    def _places(self, around: tuple[int, int]) -> dict[int, list[int]]:
        if around not in self._known:
            found: dict[int, list[int]] = {}
            for index in range(len(self._words)):
                found.setdefault(self._key(index, around), []).append(index)
            self._known[around] = found
        return self._known[around]

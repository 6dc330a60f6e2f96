"""What the variables of the new program begin with, before the values of the old one take their place.

Those that the old program loads from a checkpoint are compared. Most programs have loaded them when a training is asked
for. Where they have not, these variables are left alone until the first epoch begins, as a callback may load them first.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from .. import distributed
from . import store
from .drawn import Initializers
from .files import Files, Source

NEAR = 1e-3
"""Values no further apart than this part of the largest are the same ones: each side loads what it has trained itself."""


class FirstValues:
    """The first values of the variables of one model."""

    def __init__(
        self, reader: store.Reader, writer: store.Writer, stream: int, entries: Iterable[dict[str, Any]]
    ) -> None:
        self.reader, self.writer, self.stream = reader, writer, stream
        self.entries = {entry["name"]: entry for entry in entries}
        self.loaded: dict[str, tuple[Any, Any]] = {}
        """Variables that the old program loads, with what they held when the new one asked for a training."""

    def give(
        self, pairs: Iterable[tuple[str, Any]], files: Files, may_wait: bool, initializers: Initializers | None = None
    ) -> None:
        """Record what the variables hold, and give them the values of the old program.

        Those that the program has still to load, if it `may_wait` with it, get them from `begin`.
        """
        own, new_only, drawn = {}, {}, {}
        opened = [Source(path) for path in files.opened]
        for name, variable in pairs:
            value = distributed.value_of(variable)
            given, part = self._given(name, value)
            own[name] = self.writer.array(store.sample(value))
            more = initializers.drawn(variable, value) if initializers and "drawn" in self.entries[name] else None
            if more is not None:
                drawn[name] = self.writer.array(more)
            near, loaded = _near(given[part], value[part]), "from" in self.entries[name]
            if not near and not loaded:
                new_only[name] = files.whole(value, opened)
            if near or not loaded or not may_wait:
                variable.assign(given)
            if loaded and may_wait:
                self.loaded[name] = (variable, given if near else value)
        new_only = {name: path for name, path in new_only.items() if path}
        self.writer.event("initial", stream=self.stream, variables=own, loaded=new_only, drawn=drawn)

    def begin(self) -> None:
        """Record what the program has given variables since, and give those that still wait their values."""
        begun = {}
        for name, (variable, before) in self.loaded.items():
            value = distributed.value_of(variable)
            given, part = self._given(name, value)
            if not np.array_equal(value, before):
                begun[name] = self.writer.array(store.sample(value))
                given = np.where(part, value, given)
            if not np.array_equal(value, given):
                variable.assign(given)
        self.loaded = {}
        if begun:
            self.writer.event("begun", stream=self.stream, variables=begun)

    def _given(self, name: str, like: Any) -> tuple[Any, Any]:
        """The value of the old program, and which part of it is loaded: all of it, where it is not known to be a part."""
        entry = self.entries[name]
        given = self.reader.array(entry["value"]).reshape(like.shape)
        part = self.reader.array(entry["part"]).reshape(like.shape) if "part" in entry else np.ones(like.shape, bool)
        return given, part


def _near(given: Any, value: Any) -> bool:
    if given.dtype.kind != "f" or not given.size:
        return bool(np.array_equal(given, value))
    return bool(np.max(np.abs(given - value)) <= NEAR * np.max(np.abs(given)))  # not where one is no number

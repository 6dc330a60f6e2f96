"""When Python looks for cycles among its objects: syntax trees are very many, and to look through them takes seconds."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterator

_OBJECTS = 3_000_000
"""How many more objects than before the garbage collector waits for: some 400 MiB."""


@contextlib.contextmanager
def rare_garbage_collection() -> Iterator[None]:
    """Collects seldom. Worker processes that are forked inherit it."""
    before = gc.get_threshold()
    gc.set_threshold(max(_OBJECTS, before[0]), *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)


@contextlib.contextmanager
def no_collection_at_the_end() -> Iterator[None]:
    """For all that a process does: it gives its memory back as a whole, so that nothing is looked through on the way out."""
    with rare_garbage_collection():
        try:
            yield
        finally:
            gc.freeze()

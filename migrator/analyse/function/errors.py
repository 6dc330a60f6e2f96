"""Why a model_fn cannot be migrated: raised deep inside the analysis, turned into diagnostics by the rule."""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import TypeVar

from migrator.vocabulary.unsupported import Unsupported

T = TypeVar("T")


class Obstacles:
    """Goes on after what stands in the way, so that all of it is told at once.

    Each step that does not need what another one gives is a ``with`` block of its own. `refuse` raises the first obstacle, with
    the others in it. What needs a result that an obstacle has left out is to be passed over: any other error is one of ours.
    """

    def __init__(self) -> None:
        self.found: list[Unsupported] = []

    def __enter__(self) -> None:
        return None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> bool:
        if isinstance(error, Unsupported):
            self.found += [error, *error.others]
            return True
        return False

    def tried(self, call: Callable[[], T]) -> T | None:
        """What a call gives; None where something stands in its way, which is not noted, as there is another way."""
        before = len(self.found)
        result = None
        with self:
            result = call()
        failed = len(self.found) > before
        del self.found[before:]
        return None if failed else result

    def refuse(self) -> None:
        """Raise Unsupported if there is any obstacle."""
        if self.found:
            first, *others = self.found
            first.others = tuple(others)
            raise first


__all__ = ["Obstacles", "Unsupported"]

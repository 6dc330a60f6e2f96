"""Imports from `__future__`, which say nothing any more: with their lines."""

from __future__ import annotations

from typing import Any

from fissix.fixes import fix_future

from migrator.python2.fixers.around import without_line


class FixFuture(fix_future.FixFuture):
    """2to3 leaves an empty line of each."""

    def transform(self, node: Any, results: Any) -> Any:
        """Remove one import."""
        return without_line(node)

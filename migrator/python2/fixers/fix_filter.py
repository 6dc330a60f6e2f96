"""Calls of `filter`, with a list only where somebody may need one."""

from __future__ import annotations

from typing import Any

from fissix.fixes import fix_filter

from migrator.python2.fixers.around import is_gone_through


class FixFilter(fix_filter.FixFilter):
    """2to3 makes a list of each that is not that of a loop."""

    def transform(self, node: Any, results: Any) -> Any:
        """What one call becomes, or None where it stays."""
        return (
            None
            if not {"filter_lambda", "none"} & set(results) and is_gone_through(node)
            else super().transform(node, results)
        )

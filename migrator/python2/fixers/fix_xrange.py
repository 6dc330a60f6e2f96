"""Ranges, with a list only where somebody may need one."""

from __future__ import annotations

from typing import Any

from fissix.fixes import fix_xrange

from migrator.python2.fixers.around import is_argument

_ARRAYS = frozenset({"len", ".array", ".asarray", ".constant"})
"""Take any sequence, as a range is one."""


class FixXrange(fix_xrange.FixXrange):
    """2to3 makes a list of each range but the one of a loop."""

    def in_special_context(self, node: Any) -> bool:
        """Whether what stands around the call is content with a range."""
        return bool(super().in_special_context(node)) or is_argument(node) or is_argument(node, _ARRAYS)

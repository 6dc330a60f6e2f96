"""Code that the tool leaves as it is."""

from __future__ import annotations

import ast


class Unsupported(Exception):
    """`reason` says what stands in the way, `node` where."""

    def __init__(self, reason: str, node: ast.AST | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.node = node
        self.others: tuple[Unsupported, ...] = ()
        """What else stands in the way."""


class UsedElsewhere(Unsupported):
    """Another program needs what would become something else: no other way with this one changes that."""

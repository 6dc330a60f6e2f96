"""Why a step of the preparation is not taken."""

from __future__ import annotations

import ast


class Stuck(Exception):
    """`reason` says what stands in the way, `node` where; the program stays as it is there."""

    def __init__(self, reason: str, node: ast.AST | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.node = node

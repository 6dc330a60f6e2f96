"""Why a model_fn cannot be migrated: raised deep inside the analysis, turned into a diagnostic by the rule."""

from __future__ import annotations

import ast


class Unsupported(Exception):
    """`reason` says what stands in the way, `node` where."""

    def __init__(self, reason: str, node: ast.AST | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.node = node

"""Branches of a condition, of which one is taken."""

from __future__ import annotations

import ast
from typing import Optional

from migrator.resolve.module import Module


def exclusive(module: Module, one: ast.AST, other: ast.AST) -> Optional[ast.If]:
    """The condition whose first branch holds one place and whose second one holds another; None: both may be reached."""
    for outer in (each for each in module.ancestors(one) if isinstance(each, ast.If)):
        if _holds(module, outer.body, one) and _holds(module, outer.orelse, other):
            return outer
    return None


def _holds(module: Module, block: list[ast.stmt], node: ast.AST) -> bool:
    return any(module.is_inside(node, statement) for statement in block)


def is_choice(value: Optional[ast.expr]) -> bool:
    """Whether an expression is that that chooses between two arms and that the program itself does not have."""
    return isinstance(value, ast.IfExp) and not hasattr(value, "lineno")

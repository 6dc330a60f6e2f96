"""Gradients of a multiple of the loss, such as of ``loss / accumulation_steps``."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from migrator.analyse.statements.bindingtime import Time
from migrator.analyse.training.trainways import same_value

if TYPE_CHECKING:
    from migrator.analyse.function.plan import Plan
    from migrator.analyse.statements.flow import Leaf

NAME = "scaled_loss"


def scaled(plan: Plan, given: ast.expr | None, at: Leaf) -> tuple[str, ast.expr] | None:
    """The multiple of the loss of the spec that gradients are of, with its name; None where they are of something else."""
    if isinstance(given, ast.List) and len(given.elts) == 1:
        given = given.elts[0]
    loss, spec = plan.field("train", "loss"), plan.specs["train"].leaf
    node, where = plan.followed_in(given, at, "train")
    if given is None or not isinstance(node, ast.BinOp) or not isinstance(loss, ast.Name):
        return None
    if same_value(plan, given, at, loss, spec) or not _is_multiple(plan, node, where, loss):
        return None
    return given.id if isinstance(given, ast.Name) else NAME, node


def _is_multiple(plan: Plan, node: ast.expr, at: Leaf, loss: ast.Name) -> bool:
    """Whether a value is the loss, multiplied and divided by what is known when the model is built."""
    if isinstance(node, ast.Name) and node.id == loss.id:
        return same_value(plan, node, at, loss, plan.specs["train"].leaf)
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, (ast.Mult, ast.Div)):
        return False
    sides = [node.left, node.right] if isinstance(node.op, ast.Mult) else [node.left]
    return any(
        _is_multiple(plan, side, at, loss) and plan.times.of(other) is Time.STATIC
        for side, other in [(node.left, node.right), (node.right, node.left)]
        if side in sides
    )

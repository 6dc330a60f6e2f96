"""Statements of a train op that count the global step themselves."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from migrator.analyse.function.translate import bind
from migrator.analyse.statements.flow import Leaf

if TYPE_CHECKING:
    from migrator.analyse.function.plan import Plan

_ASSIGNMENTS = frozenset({"tensorflow.assign", "tensorflow.assign_add"})


def counts_step(plan: Plan, call: ast.Call, at: Leaf) -> bool:
    """Whether a call adds one to the global step: ``step.assign_add(1)``, ``tf.assign(step, step + 1)`` and the like."""
    function = plan.module.resolve(call.func)
    if function in _ASSIGNMENTS:
        given = bind(call, "ref value validate_shape use_locking name", function.replace("tensorflow", "tf", 1))
        step, value = given.get("ref"), given.get("value")
    elif isinstance(call.func, ast.Attribute) and call.func.attr in ("assign", "assign_add"):
        step, value = call.func.value, bind(call, "value use_locking name read_value", call.func.attr).get("value")
    else:
        return False
    if step is None or value is None or not is_step(plan, step, at):
        return False
    if ast.unparse(call.func).endswith("assign_add"):
        return isinstance(value, ast.Constant) and value.value == 1
    total, at = plan.followed_in(value, at, "train")
    if not isinstance(total, ast.BinOp) or not isinstance(total.op, ast.Add):
        return False
    sides = (total.left, total.right) if isinstance(total.right, ast.Constant) else (total.right, total.left)
    return is_step(plan, sides[0], at) and isinstance(sides[1], ast.Constant) and sides[1].value == 1


def is_step(plan: Plan, node: ast.expr, at: Leaf) -> bool:
    """Whether the value is the global step in training."""
    followed, _ = plan.followed_in(node, at, "train")
    return plan.is_step(node) or (followed is not None and plan.is_step(followed))

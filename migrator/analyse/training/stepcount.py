"""Statements of a train op that count the global step themselves."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING

from migrator.analyse.function.translate import bind
from migrator.analyse.statements.flow import Leaf

if TYPE_CHECKING:
    from migrator.analyse.function.plan import Plan

_ASSIGNMENTS = frozenset({"tensorflow.assign", "tensorflow.assign_add"})
_COND, _IDENTITY = "tensorflow.cond", "tensorflow.identity"


@dataclass(frozen=True)
class Counted:
    """A count of the step in one turn only: ``step.assign(tf.cond(due, lambda: step + 1, lambda: step))``."""

    condition: ast.expr
    at: Leaf
    arm: str
    """The arm of the condition in which it counts."""


def counts_step(plan: Plan, call: ast.Call, at: Leaf) -> bool:
    """Whether a call adds one to the global step: ``step.assign_add(1)``, ``tf.assign(step, step + 1)`` and the like."""
    value = _assigned(plan, call, at)
    if value is None:
        return False
    if ast.unparse(call.func).endswith("assign_add"):
        return isinstance(value, ast.Constant) and value.value == 1
    return _is_next(plan, *plan.followed_in(value, at, "train"))


def counts_in_turn(plan: Plan, call: ast.Call, at: Leaf) -> Counted | None:
    """In which turn of a condition a call adds one to the global step, and leaves it as it is in the other."""
    value = _assigned(plan, call, at)
    if value is None or ast.unparse(call.func).endswith("assign_add"):
        return None
    chosen, where = plan.followed_in(value, at, "train")
    while isinstance(chosen, ast.Call) and plan.module.resolve(chosen.func) == _IDENTITY and chosen.args:
        chosen, where = plan.followed_in(chosen.args[0], where, "train")
    if not isinstance(chosen, ast.Call) or plan.module.resolve(chosen.func) != _COND:
        return None
    given = bind(chosen, "pred true_fn false_fn strict name fn1 fn2", "tf.cond")
    arms = {"body": given.get("true_fn", given.get("fn1")), "orelse": given.get("false_fn", given.get("fn2"))}
    bodies = {arm: node.body for arm, node in arms.items() if isinstance(node, ast.Lambda)}
    counting = [arm for arm, body in bodies.items() if _is_next(plan, *plan.followed_in(body, where, "train"))]
    still = [arm for arm, body in bodies.items() if is_step(plan, body, where)]
    if len(counting) != 1 or len(still) != 1 or counting == still or "pred" not in given:
        return None
    return Counted(given["pred"], where, counting[0])


def _assigned(plan: Plan, call: ast.Call, at: Leaf) -> ast.expr | None:
    """What a call assigns, or adds, to the global step."""
    function = plan.module.resolve(call.func)
    if function in _ASSIGNMENTS:
        given = bind(call, "ref value validate_shape use_locking name", function.replace("tensorflow", "tf", 1))
        step, value = given.get("ref"), given.get("value")
    elif isinstance(call.func, ast.Attribute) and call.func.attr in ("assign", "assign_add"):
        step, value = call.func.value, bind(call, "value use_locking name read_value", call.func.attr).get("value")
    else:
        return None
    return value if step is not None and is_step(plan, step, at) else None


def _is_next(plan: Plan, total: ast.expr | None, at: Leaf) -> bool:
    """Whether a value is one more than the global step."""
    if not isinstance(total, ast.BinOp) or not isinstance(total.op, ast.Add):
        return False
    sides = (total.left, total.right) if isinstance(total.right, ast.Constant) else (total.right, total.left)
    return is_step(plan, sides[0], at) and isinstance(sides[1], ast.Constant) and sides[1].value == 1


def is_step(plan: Plan, node: ast.expr, at: Leaf) -> bool:
    """Whether the value is the global step in training."""
    followed, _ = plan.followed_in(node, at, "train")
    return plan.is_step(node) or (followed is not None and plan.is_step(followed))

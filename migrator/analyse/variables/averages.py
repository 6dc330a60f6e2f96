"""Moving averages of weights: `tf.train.ExponentialMovingAverage` after the step, and in evaluations and predictions."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.function.translate import bind, is_none
from migrator.analyse.statements.conditions import Conditions, check_static, conditions_of
from migrator.analyse.statements.flow import Leaf
from migrator.analyse.statements.names import reads
from migrator.analyse.training.stepcount import is_step
from migrator.analyse.variables.variablechoices import listed

if TYPE_CHECKING:
    from migrator.analyse.function.plan import Plan

_AVERAGE = "tensorflow.train.ExponentialMovingAverage"
_WHAT = "averages of weights"
_SCAFFOLD, _SAVER = "tensorflow.train.Scaffold", "tensorflow.train.Saver"


@dataclass(frozen=True)
class Averages:
    """The averages that a train op keeps of all trainable variables."""

    attribute: str
    """Name on the model."""
    decay: ast.expr
    counted: bool
    """Whether the global step makes the decay smaller at first."""
    call: ast.Call
    """``ema.apply(…)``"""
    conditions: Conditions = ()
    """Under which it is kept at all, beside those of the step."""


def kept_averages(plan: Plan, node: ast.expr | None, at: Leaf, steps_at: Sequence[Leaf] = ()) -> Averages | None:
    """What ``ema.apply(…)`` keeps after steps that are taken at `steps_at`; None for other nodes. Raises Unsupported."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or node.func.attr != "apply":
        return None
    made, made_at = plan.followed_in(node.func.value, at, "train")
    if not isinstance(made, ast.Call) or plan.module.resolve(made.func) != _AVERAGE:
        return None
    wanted = bind(node, "var_list", "apply").get("var_list")
    if not is_none(wanted):
        source, _ = plan.followed_in(wanted, at, "train")
        choice = listed(plan, source)
        if (
            choice is None
            or not isinstance(source, ast.Call)
            or len(source.args) + len(source.keywords) > _keys(source)
        ):
            raise Unsupported("averages of something else than all trainable variables are not migrated yet", node)
    elif plan.updates_run and any(site.layer.moving for site in plan.sites):
        raise Unsupported("averages of moving statistics are not migrated yet", node)
    given = bind(made, "decay num_updates zero_debias name", "ExponentialMovingAverage")
    for name in ("zero_debias", "name"):
        value = given.get(name)
        if not is_none(value) and not (isinstance(value, ast.Constant) and value.value is False):
            raise Unsupported(f"`{name}` of ExponentialMovingAverage is not migrated yet", made)
    steps = given.get("num_updates")
    counted = not is_none(steps)
    if "decay" not in given or (counted and steps is not None and not is_step(plan, steps, made_at)):
        raise Unsupported("the decay of averages is not seen", made)
    around = {condition for step in steps_at for condition in conditions_of(plan, step, "train", _WHAT)}
    conditions = tuple(one for one in conditions_of(plan, at, "train", _WHAT) if one not in around)
    check_static(plan, conditions, _WHAT)
    if any(condition.arm != "body" for condition in conditions):
        raise Unsupported(f"{_WHAT} that a condition leaves out are not migrated yet", node)
    name = node.func.value.id if isinstance(node.func.value, ast.Name) else "averages"
    taken = any(site.attribute == name for site in plan.sites) or name in plan.statics
    return Averages(name + "_" if taken else name, given["decay"], counted, node, conditions)


def same_conditions(plan: Plan, one: Conditions, other: Conditions) -> bool:
    """Whether two conditions are the same text, of names that have one value."""
    told = [[(ast.dump(condition.test), condition.arm) for condition in some] for some in (one, other)]
    names = {name for condition in one for name in reads(condition.test)}
    return told[0] == told[1] and all(len(plan.definitions(name)) < 2 for name in names)


def _keys(call: ast.Call) -> int:
    """How many arguments a list of all trainable variables has: the key of ``tf.get_collection``."""
    return 1 if isinstance(call.func, ast.Attribute) and call.func.attr == "get_collection" else 0


def restores_averages(plan: Plan, node: ast.expr, at: Leaf, mode: str) -> bool:
    """Whether a Scaffold only says that averages take the place of weights: ``Saver(ema.variables_to_restore())``."""
    for name, key in ((_SCAFFOLD, "saver"), (_SAVER, "var_list")):
        call, at = plan.followed_in(node, at, mode)
        if not isinstance(call, ast.Call) or plan.module.resolve(call.func) != name or mode == "train":
            return False
        given = {k.arg: k.value for k in call.keywords if not is_none(k.value)}
        if name == _SAVER and len(call.args) == 1:
            given["var_list"] = call.args[0]
        elif call.args:
            return False
        if list(given) != [key]:
            return False
        node = given[key]
    call, at = plan.followed_in(node, at, mode)
    if not isinstance(call, ast.Call) or call.args or call.keywords or not isinstance(call.func, ast.Attribute):
        return False
    made, _ = plan.followed_in(call.func.value, at, mode)
    names = [k.arg for k in made.keywords] if isinstance(made, ast.Call) else []
    known = isinstance(made, ast.Call) and plan.module.resolve(made.func) == _AVERAGE
    return call.func.attr == "variables_to_restore" and known and "name" not in names

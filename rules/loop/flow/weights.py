"""How a model gets its weights: by its first call, as those of layers of Keras."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Optional

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.function.plan import Plan
from migrator.analyse.function.translate import is_none
from migrator.analyse.statements.flow import Leaf
from migrator.analyse.training.clipping import with_clipping
from migrator.analyse.training.trainop import train_op
from migrator.resolve.calls import arguments
from migrator.resolve.syntax import walk


@dataclass(frozen=True)
class Weights:
    """Those of a model of which one call makes all."""

    labelled: bool
    """Whether the data of trainings and evaluations are pairs of features and labels."""
    stepped: bool
    """Whether one optimizer of Keras moves all of them, by a step of `fit` itself, so that its own may be made, too; or several
    do for which the model has a method."""
    partial: bool = False
    """Whether a call for predictions makes some of them alone."""
    slots: str = "{model}.optimizer.build({model}.trainable_variables)"
    """The statement that makes what the optimizer of a model keeps."""


def weights_of(plans: list[Plan]) -> Optional[Weights]:
    """The weights of what model_fns become; None if a call of that does not make all."""
    if not plans or not all(map(_is_built, plans)):
        return None
    labelled = all(any("train" in leaf.modes for leaf in plan.tainted) for plan in plans)
    partial = any("infer" not in guard for plan in plans for guard in _guards(plan))
    return Weights(labelled, all(map(moves_all, plans)), partial)


def _is_built(plan: Plan) -> bool:
    """Whether a call of the model by data of an evaluation makes all of its weights: it is one without ``training=True``."""
    forward = {id(leaf) for leaf in plan.forward}
    return not plan.fed and all(id(leaf) in forward for leaf in _made(plan)) and all("eval" in g for g in _guards(plan))


def _guards(plan: Plan) -> list[frozenset[str]]:
    """The modes in which each of the layers is made."""
    return [frozenset(leaf.guard) for leaf in _made(plan)]


def _made(plan: Plan) -> list[Leaf]:
    return [site.leaf for site in plan.sites if not site.layer.weight]  # `__init__` makes weights that are no layer's


def moves_all(plan: Plan) -> bool:
    """Whether one optimizer of Keras moves all weights, by a step of `fit` itself."""
    try:
        found = train_op(plan)
    except Unsupported:
        return False
    if found is None:
        return False
    single = len(found.updates) == 1 and not (found.others or found.condition or found.changes or found.averages)
    return with_clipping(plan, found, alone=True).plain or (single and _reach_all(plan))


def _reach_all(plan: Plan) -> bool:
    """Whether gradients are those of all trainable variables, of which nothing but absent ones are left out."""
    nodes = [node for leaf in plan.gradients for node in walk(leaf.node)]
    taken = [node for node in nodes if isinstance(node, ast.Call) and _takes_gradients(plan, node)]
    kept = all(_is_there(test) for node in nodes if isinstance(node, ast.comprehension) for test in node.ifs)
    plain = not any(isinstance(node, (ast.For, ast.While, ast.If, ast.IfExp, ast.Slice)) for node in nodes)
    return plain and kept and len(taken) == 1 and _is_of_all(plan, taken[0])


def _takes_gradients(plan: Plan, call: ast.Call) -> bool:
    method = isinstance(call.func, ast.Attribute) and call.func.attr == "compute_gradients"
    return method or plan.module.resolve(call.func) == "tensorflow.gradients"


def _is_of_all(plan: Plan, call: ast.Call) -> bool:
    """Whether a call asks for the gradients of all trainable variables."""
    given = next((keyword.value for keyword in call.keywords if keyword.arg in ("var_list", "xs")), None)
    variables = given or (call.args[1] if len(call.args) > 1 else None)
    if variables is None:
        return plan.module.resolve(call.func) != "tensorflow.gradients"
    found = plan.followed(variables, "train")[0]
    name = plan.module.resolve(found.func) if isinstance(found, ast.Call) and not arguments(found) else None
    return name == "tensorflow.trainable_variables"


def _is_there(test: ast.expr) -> bool:
    """``gradient is not None``."""
    plain = isinstance(test, ast.Compare) and [type(op) for op in test.ops] == [ast.IsNot]
    return plain and isinstance(test, ast.Compare) and is_none(test.comparators[0])

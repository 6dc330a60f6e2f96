"""Metrics of Keras in `eval_metric_ops`: objects that a statement of their own feeds, as they are in a Keras model."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.function.translate import Metric, Value, Writing
from migrator.resolve.syntax import walk

if TYPE_CHECKING:
    from migrator.analyse.function.plan import Plan
    from migrator.analyse.statements.flow import Leaf

_FEEDS = "update_state"


def is_metric_object(plan: Plan, node: ast.expr | None) -> bool:
    """Whether a call makes a metric of Keras."""
    return isinstance(node, ast.Call) and plan.translations.metric_classes(plan.module.resolve(node.func) or "")


def feeding_leaves(plan: Plan) -> list[Leaf]:
    """The statements that feed those metrics which an evaluation reports: ``accuracy.update_state(labels, classes)``."""
    found = []
    for leaf in plan.flow.leaves if "eval" in plan.specs else ():
        name = _fed(leaf)
        if name is None or "eval" not in leaf.modes:
            continue
        sources = plan.slicer.reaching(name, leaf.index, "eval", leaf)
        if len(sources) == 1 and sources[0] in plan.metric_slice and _made_by(plan, sources[0]) is not None:
            found.append(leaf)
    return found


def _fed(leaf: Leaf) -> str | None:
    """The name of the object that a statement feeds."""
    call = leaf.node.value if isinstance(leaf.node, ast.Expr) else None
    function = call.func if isinstance(call, ast.Call) else None
    if not isinstance(function, ast.Attribute) or function.attr != _FEEDS:
        return None
    return function.value.id if isinstance(function.value, ast.Name) else None


def _made_by(plan: Plan, leaf: Leaf) -> ast.Call | None:
    value = leaf.node.value if isinstance(leaf.node, ast.Assign) else None
    return value if isinstance(value, ast.Call) and is_metric_object(plan, value) else None


def fed_metric(plan: Plan, made: ast.Call, at: Leaf) -> tuple[ast.Call, Leaf]:
    """The call that feeds the metric which `made` makes at `at`, and its statement. Raises Unsupported."""
    feeding = [leaf for leaf in plan.feeding if at in plan.slicer.reaching(_fed(leaf) or "", leaf.index, "eval", leaf)]
    if len(feeding) != 1 or feeding[0].arms or at.arms:
        raise Unsupported("a metric of Keras is not seen to be fed once", made)
    statement = feeding[0].node
    assert isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call)
    name = _fed(feeding[0])
    for node in walk(plan.function):
        parent = plan.module.parent(node) if isinstance(node, ast.Name) and node.id == name else None
        if isinstance(parent, ast.Attribute) and parent.attr != _FEEDS:
            raise Unsupported("a metric of Keras is read outside of the evaluation", parent)
    if made.args or any(k.arg is None for k in made.keywords):
        raise Unsupported("the arguments of a metric of Keras are not seen by their names", made)
    return statement.value, feeding[0]


def metric_of(plan: Plan, made: ast.Call, feeding: ast.Call, writing: Writing) -> Metric:
    """The same metric, made by the model and fed in `compute_metrics`."""
    name = plan.module.resolve(made.func) or ""
    arguments: list[tuple[str | None, Value]] = [(k.arg, k.value) for k in made.keywords if k.arg != "name"]
    update: list[tuple[str | None, Value]] = [(None, value) for value in feeding.args]
    update += [(k.arg, k.value) for k in feeding.keywords]
    return Metric(f"{writing.tf}.{name.partition('.')[2]}", tuple(arguments), tuple(update))

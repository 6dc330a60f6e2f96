"""Which metrics the statements of a training read that are there for their effect: summaries, and values that hooks ask for."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from migrator.modelfn.tags import summary_call
from migrator.syntax import walk

if TYPE_CHECKING:
    from migrator.modelfn.body import Body
    from migrator.modelfn.flow import Leaf
    from migrator.modelfn.plan import Plan


def read_metrics(plan: Plan, leaf: Leaf) -> set[Leaf]:
    """The statements that make the metrics which a statement reads."""
    needed = plan.slicer.closure(plan.slicer.inputs(leaf), leaf.index, "train", leaf)
    return {other for other in needed if plan.metric_call(other) is not None}


def summarized(plan: Plan) -> set[Leaf]:
    """The statements that make the metrics which summaries read."""
    leaves = [leaf for leaf in plan.metric_effects if summary_call(plan, leaf) is not None]
    return set().union(*(read_metrics(plan, leaf) for leaf in leaves))


def named(plan: Plan) -> dict[str, set[Leaf]]:
    """The statements that make the metrics which ops read that have a name: ``tf.identity(accuracy[1], "train_accuracy")``."""
    found: dict[str, set[Leaf]] = {}
    for leaf in plan.metric_effects:
        for node in walk(leaf.node) if summary_call(plan, leaf) is None else ():
            name = op_name(plan, node) if isinstance(node, ast.Call) else None
            if name is not None:
                found[name] = read_metrics(plan, leaf)
    return found


def watched_op(body: Body, call: ast.Call, where: str) -> str | None:
    """The name of an op whose value callbacks read; among what is done with metrics, only where the training does it."""
    known = body.translations.watched if body.labels is not None else ()
    name = op_name(body, call) if known and where in ("call", "loss", "metrics") else None
    if name not in known or id(call) in body.site_of:
        return None
    statement = body.module.statement(call)
    return name if where != "metrics" or any(leaf.node is statement for leaf in body.metric_effects) else None


def op_name(plan: Body, call: ast.Call) -> str | None:
    """The name that a call gives to its op."""
    given = next((k.value for k in call.keywords if k.arg == "name"), None)
    if given is None and len(call.args) == 2 and (plan.module.resolve(call.func) or "").endswith(".identity"):
        given = call.args[1]
    return given.value if isinstance(given, ast.Constant) and isinstance(given.value, str) else None

"""Which metrics the statements of a training read that are there for their effect: summaries, and values that hooks ask for."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import TYPE_CHECKING

from migrator.analyse.results.opnames import op_name
from migrator.analyse.results.tags import summary_call
from migrator.analyse.statements.names import reads
from migrator.resolve.syntax import walk

if TYPE_CHECKING:
    from migrator.analyse.function.body import Body
    from migrator.analyse.function.plan import Plan
    from migrator.analyse.results.metrics import MetricEntry
    from migrator.analyse.statements.flow import Leaf


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
            name = op_name(plan.module, node) if isinstance(node, ast.Call) else None
            if name is not None:
                found[name] = read_metrics(plan, leaf)
    return found


def training_metrics(plan: Plan, entries: Iterable[MetricEntry]) -> dict[str, str]:
    """Results of metrics that the training makes for itself, by name, where they are made like one of the evaluation.

    A model has its metrics once: they count anew in each training and in each evaluation, as those of a session do.
    """
    found: dict[str, str] = {}
    for effect in plan.metric_effects:
        for leaf in read_metrics(plan, effect):
            call = plan.metric_call(leaf)
            for entry in entries if call is not None else ():
                alike = entry.loop is None and entry.group is None and made_alike(plan, call, leaf, entry)
                if alike and isinstance(leaf.node, ast.Assign) and isinstance(leaf.node.targets[0], ast.Name):
                    found.update(dict.fromkeys(leaf.defs, f"self.{entry.attribute}.result()"))
    return found


def made_alike(plan: Plan, call: ast.Call | None, leaf: Leaf, entry: MetricEntry) -> bool:
    """Whether two metrics, of the training and of the evaluation, are of the same function of what the model hands out."""
    if call is None or _without_name(call) != _without_name(entry.call):
        return False
    for name in reads(call):
        if not plan.is_local(name) or name in (plan.labels, plan.features):
            continue
        before = {*plan.slicer.reaching(name, leaf.index, "train", leaf)}
        before |= {*plan.slicer.reaching(name, entry.at.index, "eval", entry.at)}
        if not before or not before <= set(plan.forward):
            return False
    return True


def _without_name(call: ast.Call) -> tuple[list[str], list[str]]:
    """A call, as far as it says what is computed."""
    given = sorted(ast.dump(keyword) for keyword in call.keywords if keyword.arg != "name")
    return [ast.dump(part) for part in (call.func, *call.args)], given


def watched_op(body: Body, call: ast.Call, where: str) -> str | None:
    """The name of an op whose value callbacks read; among what is done with metrics, only where the training does it."""
    known = body.translations.watched if body.labels is not None else ()
    name = op_name(body.module, call) if known and where in ("call", "loss", "metrics") else None
    if name not in known or id(call) in body.site_of:
        return None
    statement = body.module.statement(call)
    return name if where != "metrics" or any(leaf.node is statement for leaf in body.metric_effects) else None

"""The entries of `eval_metric_ops`."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass

from migrator.modelfn.errors import Unsupported
from migrator.modelfn.flow import Leaf
from migrator.modelfn.names import reads
from migrator.modelfn.plan import Plan
from migrator.modelfn.translate import Metric, Writing


@dataclass
class MetricEntry:
    """One evaluation metric: its key, the call that makes it, and the leaves that only carry it."""

    key: str
    call: ast.Call
    translate: Callable[[Writing], Metric]
    leaves: set[Leaf]
    at: Leaf
    """Where the metric is made."""
    attribute: str = ""
    metric: Metric | None = None

    @property
    def values(self) -> list[ast.expr]:
        """The arguments of the metric."""
        return [*self.call.args, *(k.value for k in self.call.keywords)]


def metric_entries(plan: Plan) -> list[MetricEntry]:
    """All metrics of the evaluation spec, in order."""
    node = plan.field("eval", "eval_metric_ops")
    if node is None:
        return []
    value, leaf = plan.followed(node, "eval")
    spec = plan.specs["eval"].leaf
    at = leaf if leaf is not None else spec
    carried: set[Leaf] = {leaf} if leaf is not None else set()
    pairs: list[tuple[ast.expr, ast.expr, Leaf]] = []
    if isinstance(value, ast.Dict) and all(k is not None for k in value.keys):
        pairs = [(k, v, at) for k, v in zip(value.keys, value.values) if k is not None]
    elif (
        isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == "dict" and not value.args
    ):
        pairs = [(ast.Constant(k.arg), k.value, at) for k in value.keywords]
    elif not isinstance(value, ast.Name):
        raise Unsupported("the metrics are not written as a dict", node)
    if isinstance(node, ast.Name):
        for other in plan.definitions(node.id):
            if other in carried or other not in plan.metric_slice:
                continue
            target = other.node.targets[0] if isinstance(other.node, ast.Assign) else None
            if isinstance(other.node, ast.Assign) and isinstance(target, ast.Subscript) and not other.frames:
                pairs.append((target.slice, other.node.value, other))
            elif isinstance(other.node, ast.Assign) and isinstance(other.node.value, ast.Dict) and not other.frames:
                first = other.node.value
                pairs[:0] = [(k, v, other) for k, v in zip(first.keys, first.values) if k is not None]
            else:
                raise Unsupported("the metrics are not written as a dict", other.node)
            carried.add(other)
    return [_entry(plan, key, metric, where, carried) for key, metric, where in pairs]


def _entry(plan: Plan, key: ast.expr, value: ast.expr, where: Leaf, carried: set[Leaf]) -> MetricEntry:
    if not isinstance(key, ast.Constant) or not isinstance(key.value, str):
        raise Unsupported("the key of a metric is not a literal", key)
    call, leaf = plan.followed_in(value, where, "eval")
    name = plan.module.resolve(call.func) if isinstance(call, ast.Call) else None
    rule = plan.translations.metrics.get(name) if name is not None else None
    if rule is None or not isinstance(call, ast.Call):
        raise Unsupported(f"the metric `{key.value}` is none that is known", value)
    made: ast.Call = call
    found = rule
    entry = MetricEntry(key.value, made, lambda writing: found(made, writing), carried | {leaf}, leaf)
    for argument in entry.values:
        plan.check_still(reads(argument), leaf, plan.specs["eval"].leaf, "eval")
    return entry

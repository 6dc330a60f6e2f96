"""Writes `get_metrics_result`: metrics that are computed from the results of others."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.results.derivedmetrics import DerivedMetric, update_name, value_name
from migrator.analyse.results.metrics import MetricEntry
from migrator.analyse.results.outputs import repr_key
from migrator.emit.writer import Writer
from migrator.resolve.syntax import walk
from migrator.rewrite import Row, names_of, rows, statements

if TYPE_CHECKING:
    from migrator.analyse.function.body import Body
    from migrator.analyse.function.plan import Plan
    from migrator.emit.modelwriter import ModelWriter


def result_method(generator: ModelWriter, entries: list[MetricEntry], derived: list[DerivedMetric]) -> Sequence[Row]:
    """The method that adds the derived metrics to the results, and takes out those that only serve them."""
    if not derived:
        return []
    plan = generator.plan
    results = _results(plan)
    leaves = plan.ordered({leaf for metric in derived for leaf in metric.leaves})
    support = generator.static_names(leaves, [metric.value for metric in derived])
    names = generator.names("results")
    attributes = {entry.call: entry.attribute for entry in entries}
    read: list[Row] = []
    for part in plan.ordered({part for metric in derived for part in metric.parts}):
        name, call = value_name(part), plan.metric_call(part)
        assert name is not None and call is not None
        if update_name(part) is not None:  # the value has a name of its own
            read += statements("{name} = self.{metric}.result()", name=name, metric=attributes[call])
            names.pop(name, None)
    writer = Writer(generator.shared, "metrics", names)
    body = writer.rows(plan.ordered({*leaves, *support}))
    added = rows([f"{results}[{repr_key(metric.key)}] = {writer.text(metric.value)}" for metric in derived])
    hidden = rows([f"del {results}[{repr_key(entry.key)}]" for entry in entries if entry.hidden])
    return statements(
        """
        def get_metrics_result(self):
            {results} = super().get_metrics_result()
            {body}
            return {results}
        """,
        results=results,
        body=[*read, *body, *added, *hidden],
    )


def _results(plan: Body) -> str:
    """The name of the results of all metrics."""
    used = {node.id for node in walk(plan.function) if isinstance(node, ast.Name)}
    return next(name for name in ("results", "metric_results", "all_results") if name not in used)


def read_results(plan: Plan, derived: Iterable[DerivedMetric]) -> dict[str, str]:
    """How the values of derived metrics are written where a training reads their pairs, by the names of these.

    Raises Unsupported where it reads a part of one by another name.
    """
    found: dict[str, str] = {}
    for metric in derived:
        for leaf in metric.skipped:
            node = leaf.node
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Tuple):
                if isinstance(node.targets[0], ast.Name):
                    found[node.targets[0].id] = f"{_results(plan)}[{repr_key(metric.key)}]"
    inner = {leaf for metric in derived for leaf in metric.skipped if not leaf.defs <= set(found)}
    for effect in plan.metric_effects:
        read = plan.slicer.inputs(effect)
        if any(inner & set(plan.slicer.reaching(name, effect.index, "train", effect)) for name in read):
            raise Unsupported("a part of a metric that is computed from others is read in training", effect.node)
    return found


def with_results(plan: Plan, effects: list[Row]) -> list[Row]:
    """The end of `compute_metrics`: what a training does with metrics, of which `effects` may read the results of all."""
    results = _results(plan)
    if results not in names_of(effects):
        return [*effects, *statements("return self.get_metrics_result()")]
    given = statements("{results} = self.get_metrics_result()", results=results)
    return [*given, *effects, *statements("return {results}", results=results)]

"""Writes `get_metrics_result`: metrics that are computed from the results of others."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from migrator.analyse.results.derivedmetrics import DerivedMetric, update_name, value_name
from migrator.analyse.results.metrics import MetricEntry
from migrator.analyse.results.outputs import repr_key
from migrator.emit.writer import Writer
from migrator.resolve.syntax import walk

if TYPE_CHECKING:
    from migrator.emit.modelwriter import ModelWriter


def result_lines(generator: ModelWriter, entries: list[MetricEntry], derived: list[DerivedMetric]) -> list[str]:
    """The method that adds the derived metrics to the results, and takes out those that only serve them."""
    if not derived:
        return []
    plan, unit = generator.plan, generator.unit
    indent = generator.indent + unit * 2
    used = {node.id for node in walk(plan.function) if isinstance(node, ast.Name)}
    results = next(name for name in ("results", "metric_results", "all_results") if name not in used)
    leaves = plan.ordered({leaf for metric in derived for leaf in metric.leaves})
    support = generator.static_names(leaves, [metric.value for metric in derived])
    names = generator.names("results")
    attributes = {entry.call: entry.attribute for entry in entries}
    lines = [f"{indent}{results} = super().get_metrics_result()"]
    for part in plan.ordered({part for metric in derived for part in metric.parts}):
        name, call = value_name(part), plan.metric_call(part)
        assert name is not None and call is not None
        if update_name(part) is not None:  # the value has a name of its own
            lines.append(f"{indent}{name} = self.{attributes[call]}.result()")
            names.pop(name, None)
    writer = Writer(generator.shared, "metrics", names)
    lines += writer.block(plan.ordered({*leaves, *support}), indent)
    lines += [f"{indent}{results}[{repr_key(metric.key)}] = {writer.text(metric.value)}" for metric in derived]
    for entry in entries:
        if entry.hidden:
            lines.append(f"{indent}del {results}[{repr_key(entry.key)}]")
    return [
        f"{generator.indent}{unit}def get_metrics_result(self):",
        *lines,
        f"{indent}return {results}",
    ]

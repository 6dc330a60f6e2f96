"""The metrics that `compile` takes: those that Keras computes of the labels and of what `call` returns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from migrator.analyse.function.translate import format_call
from migrator.analyse.results.compiledloss import ProgramReading, masks
from migrator.analyse.results.outputs import repr_key
from migrator.analyse.statements.flow import Leaf
from migrator.emit.writer import Writer

if TYPE_CHECKING:
    from migrator.analyse.results.derivedmetrics import DerivedMetric
    from migrator.analyse.results.metrics import MetricEntry
    from migrator.emit.modelwriter import ModelWriter


def compile_metrics(generator: ModelWriter, entries: Sequence[MetricEntry], derived: Sequence[DerivedMetric]) -> None:
    """Note at the entries what `compile` takes in their place."""
    plan = generator.plan
    if generator.single is None or plan.fed or derived or plan.metric_effects or generator.shared.facts["replicated"]:
        return  # other code reads the metrics
    if any(entry.loop or entry.group or entry.arm or entry.hidden for entry in entries) or masks(generator):
        return
    for entry in entries:
        entry.compiled = plan.translations.compiled_metric(
            ProgramReading(generator, "eval", entry.call, entry.at, set())
        )


def left_leaves(generator: ModelWriter, leaves: Sequence[Leaf], entries: Sequence[MetricEntry]) -> list[Leaf]:
    """Those statements that the metrics need which neither `compile` takes nor the loss updates."""
    if not any(entry.compiled or entry.with_loss for entry in entries):
        return list(leaves)
    plan, needed = generator.plan, set[Leaf]()
    for entry in entries:
        if entry.compiled is None and not entry.with_loss:
            names = set[str]().union(*(plan.reads(value) for value in entry.values))
            needed |= plan.slicer.closure(names, entry.at.index, "eval", entry.at)
    return [leaf for leaf in leaves if leaf in needed]


def metrics_text(entries: Sequence[MetricEntry], writer: Writer) -> list[str]:
    """The elements of the argument `metrics` of `compile`."""
    found = []
    for entry in entries:
        if entry.compiled is not None:
            arguments: list[tuple[str | None, str]] = [(n, writer.text(value)) for n, value in entry.compiled.arguments]
            arguments.append(("name", repr_key(entry.key)))
            found.append(format_call(f"{writer.tf}.keras.metrics.{entry.compiled.short}", arguments))
    return found

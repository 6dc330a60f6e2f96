"""Writes `compute_metrics`: the updates of single metrics, and those of lists of metrics in the loops that name them."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from migrator.analyse.function.translate import Writing, format_call, operand
from migrator.analyse.results.metrics import MetricEntry
from migrator.analyse.results.outputs import repr_key
from migrator.analyse.statements.flow import Frame, Leaf
from migrator.analyse.statements.names import enumerated, reads, targets
from migrator.analyse.statements.negation import negated
from migrator.emit.expressions import Shared
from migrator.emit.methods.callwriter import CallWriter
from migrator.emit.methods.prologue import prologue
from migrator.emit.methods.resultwriter import with_results
from migrator.resolve.syntax import walk
from migrator.rewrite import Row, code, defined, rows, statements, trimmed

if TYPE_CHECKING:
    from migrator.analyse.layers.site import Site
    from migrator.emit.methods.initwriter import InitWriter
    from migrator.emit.modelwriter import ModelWriter


_UNPAIRED = """
def compute_metrics(self, x, y, y_pred, sample_weight):
    return self.get_metrics_result()  # else Keras pairs labels and outputs
"""


@dataclass(frozen=True)
class _Held:
    """A list of metrics, as what a loop walks over besides its own values."""

    entry: MetricEntry
    attribute: str
    item: str
    makes: bool = True

    @property
    def leaf(self) -> Leaf:
        """The statement that makes one of them."""
        return self.entry.at

    @property
    def loops(self) -> tuple[ast.For, ...]:
        """The loop around it."""
        return self.entry.at.loops


class MetricsWriter(CallWriter):
    """The statements that the metrics need, in evaluation."""

    def __init__(self, shared: Shared, names: dict[str, str], entries: list[MetricEntry]) -> None:
        turned = [entry for entry in entries if isinstance(entry.loop, ast.For)]
        self.placed: dict[Leaf, list[MetricEntry]] = {entry.at: [entry] for entry in turned}
        """The metrics that are updated where a statement stands that names them."""
        for entry in entries:
            if entry.given is not None:
                self.placed.setdefault(entry.given, []).append(entry)
        taken = {n.id for n in walk(shared.plan.function) if isinstance(n, ast.Name)}
        self.items = {entry.attribute: _item(entry.attribute, taken) for entry in entries}
        held = [_Held(entry, entry.attribute, self.items[entry.attribute]) for entry in turned]
        super().__init__(shared, names, cast("list[Site]", held))
        self.where = "metrics"

    def _test(self, leaf: Leaf) -> str | None:
        return None

    def leaf(self, leaf: Leaf) -> list[Row]:
        """A statement, or the update of the metrics that a turn of a loop, or an arm of a condition, names."""
        entries = self.placed.get(leaf)
        if entries is None:
            return super().leaf(leaf)
        return [*self.comments([leaf]), *self.lines(*(self.update(entry) for entry in entries))]

    def update(self, entry: MetricEntry) -> str:
        """The call that updates a metric."""
        entry.metric = entry.translate(self)
        held = f"self.{entry.attribute}" if entry.loop is None else self.items[entry.attribute]
        if entry.group is not None:
            given = [(None, held), *((n, self.text(v)) for n, v in entry.metric.update)]
            return format_call(f"{operand(entry.group, self)}.update_all", given)
        return format_call(f"{held}.update_state", [(n, self.text(v)) for n, v in entry.metric.update])

    def updates(self, entry: MetricEntry) -> list[Row]:
        """The statements at the end that update a metric; none if a loop or a condition above does."""
        if entry.arm is not None or isinstance(entry.loop, ast.For):
            return []
        if entry.loop is None:
            return self.lines(self.update(entry))
        update = self.update(entry)
        if not self._words([update]) & targets(entry.loop.target):
            head = f"for {self.items[entry.attribute]} in self.{entry.attribute}:"
        else:
            sources = f"{self.text(entry.loop.iter)}, self.{entry.attribute}"
            target = self.text(entry.loop.target)
            bare = isinstance(entry.loop.target, ast.Tuple) and not target.startswith("(")
            target = f"({target})" if bare else target
            head = f"for {target}, {self.items[entry.attribute]} in zip({sources}):"
        return self.lines(head, self.unit + update)


def metrics_method(generator: ModelWriter, leaves: list[Leaf], entries: list[MetricEntry]) -> Sequence[Row]:
    """`compute_metrics`; nothing where `compile` takes all metrics, or the loss updates them."""
    plan, shared = generator.plan, generator.shared
    compiled = any(entry.compiled for entry in entries)
    entries = [entry for entry in entries if entry.compiled is None and not entry.with_loss]
    if not entries:
        return [] if compiled or not _is_paired(generator) else statements(_UNPAIRED)
    values = [*(value for entry in entries for value in entry.values), *conditions(entries)]
    support = generator.static_names(leaves, values)
    writer = MetricsWriter(shared, generator.names("metrics"), entries)
    carried = plan.ordered({leaf for entry in entries for leaf in entry.leaves} - set(writer.placed))

    def written(support: set[Leaf]) -> list[Row]:
        nonlocal writer
        writer = MetricsWriter(shared, generator.names("metrics"), entries)
        every = plan.ordered({*leaves, *support, *writer.placed})
        body = [*prologue(writer, every), *writer.rows(every)]
        last = writer.comments(carried)
        if compiled:
            last += statements("super().compute_metrics(x, y, y_pred, sample_weight)")
        last += [row for entry in entries for row in writer.updates(entry)]
        nothing_else = all(leaf in writer.placed and not leaf.loops for leaf in every)
        return [*last, *body] if nothing_else else [*body, *last]

    body = [*_without_features(generator), *written(generator.lean(support, written))]
    body += with_results(plan, writer.rows(plan.metric_effects))
    return [defined("def compute_metrics(self, x, y, y_pred, sample_weight)", trimmed(body))]


def _is_paired(generator: ModelWriter) -> bool:
    """Whether Keras would look for a label to each entry of what `call` returns, and labels have entries of their own."""
    plan = generator.plan
    if generator.single is not None or generator.compiled is not None or not generator.losses:
        return False
    if plan.labels is None or plan.fed or not generator.shared.facts["plain"]:
        return False
    loads = plan.module.loads_of_parameter(plan.labels, plan.function)
    return any(isinstance(plan.module.parent(load), (ast.Subscript, ast.Attribute)) for load in loads)


def _without_features(generator: ModelWriter) -> Sequence[Row]:
    """Leaves metrics alone where features that they need are not there, as in training."""
    keys = [f'"{key}"' for key in generator.evaluated]
    if not keys or generator.only_evaluates:
        return []
    test = f"{keys[0]} not in x" if len(keys) == 1 else f"not {{{', '.join(keys)}}} <= x.keys()"
    return statements(
        """
        if {test}:
            return super().compute_metrics(x, y, y_pred, sample_weight)
        """,
        test=code(test),
    )


def metric_attributes(generator: ModelWriter, entries: list[MetricEntry], writer: InitWriter) -> list[Row]:
    """The construction of the metrics."""
    indent = generator.indent + generator.unit * 2
    lines: list[str] = []
    if generator.losses and generator.compiled is None:
        plain = generator.shared.facts["plain"]
        mean = f"{generator.shared.tf}.keras.metrics.Mean" if plain else generator.shared.need("BatchMean")
        lines.append(f'{indent}self.loss_metric = {mean}(name="loss")')
    arm: Frame | None = None
    entries = [entry for entry in entries if entry.compiled is None]
    for entry in sorted(entries, key=order_in_arms(entries)):
        if entry.arm is not None and entry.arm != arm:
            other = arm is not None and arm.node is entry.arm.node
            lines.append(f"{indent}else:" if other else f"{indent}if {tested(entry.arm, writer)}:")
        arm = entry.arm
        inner = indent if arm is None else indent + generator.unit
        lines.append(f"{inner}self.{entry.attribute} = {_metric(entry, writer)}")
    return rows(lines)


def _metric(entry: MetricEntry, writer: InitWriter) -> str:
    """The construction of one metric, or of a list of them."""
    assert entry.metric is not None
    arguments = [(n, writer.text(v)) for n, v in entry.metric.arguments]
    key = repr_key(entry.key) if entry.name is None else writer.text(entry.name)
    made = format_call(entry.metric.constructor, [*arguments, ("name", key)])
    if entry.group is not None:
        made = f"{writer.text(entry.group)}.metrics()"
    if entry.loop is not None:
        number, target, iterable = enumerated(entry.loop)
        if number is not None and re.search(rf"\b{ast.unparse(number)}\b", made):
            target, iterable = entry.loop.target, entry.loop.iter
        made = f"[{made} for {writer.text(target)} in {writer.text(iterable)}]"
    return made


def tested(arm: Frame, writer: Writing) -> str:
    """What has to be true for an arm of a condition to run."""
    assert isinstance(arm.node, ast.If)
    return writer.text(arm.node.test) if arm.arm == "body" else negated(arm.node.test, writer.text)


def conditions(entries: Iterable[MetricEntry]) -> list[ast.expr]:
    """What decides which metrics there are."""
    return [entry.arm.node.test for entry in entries if entry.arm is not None and isinstance(entry.arm.node, ast.If)]


def names_read(entries: list[MetricEntry]) -> set[str]:
    """The names that the making of the metrics reads."""
    parts: list[ast.AST] = list(conditions(entries))
    own: set[str] = set()
    for entry in entries:
        arguments = entry.metric.arguments if entry.metric is not None else ()
        parts += [value for _, value in arguments if not isinstance(value, str)]
        parts += [node for node in (entry.group, entry.name) if node is not None]
        if entry.loop is not None:
            parts.append(entry.loop.iter)
            own |= targets(entry.loop.target)
    return reads(parts) - own


def order_in_arms(entries: list[MetricEntry]) -> Callable[[MetricEntry], tuple[int, bool]]:
    """A key that brings the metrics of the arms of one condition together, those of the first arm first."""
    firsts: dict[ast.AST, int] = {}
    for number, entry in enumerate(entries):
        if entry.arm is not None:
            firsts.setdefault(entry.arm.node, number)
    numbers = {id(entry): number for number, entry in enumerate(entries)}

    def key(entry: MetricEntry) -> tuple[int, bool]:
        if entry.arm is None:
            return numbers[id(entry)], False
        return firsts[entry.arm.node], entry.arm.arm != "body"

    return key


def _item(attribute: str, taken: set[str]) -> str:
    """The name of one metric of a list."""
    name = attribute[:-1] if attribute.endswith("s") and not attribute.endswith("ss") else f"{attribute}_metric"
    while name in taken or name == attribute:
        name += "_"
    return name

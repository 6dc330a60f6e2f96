"""Writes `compute_metrics`: the updates of single metrics, and those of lists of metrics in the loops that name them."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from migrator.modelfn.callwriter import CallWriter
from migrator.modelfn.flow import Leaf
from migrator.modelfn.metrics import MetricEntry
from migrator.modelfn.names import targets
from migrator.modelfn.translate import format_call, operand
from migrator.modelfn.writer import Shared
from migrator.syntax import walk

if TYPE_CHECKING:
    from migrator.modelfn.sites import Site


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
        self.turned = {e.at: e for e in entries if isinstance(e.loop, ast.For)}
        taken = {n.id for n in walk(shared.plan.function) if isinstance(n, ast.Name)}
        self.items = {entry.attribute: _item(entry.attribute, taken) for entry in entries}
        held = [_Held(entry, entry.attribute, self.items[entry.attribute]) for entry in self.turned.values()]
        super().__init__(shared, names, cast("list[Site]", held))
        self.where = "metrics"

    def _test(self, leaf: Leaf) -> str | None:
        return None

    def leaf(self, leaf: Leaf, indent: str) -> list[str]:
        """A statement, or the update of a metric that a turn of a loop names."""
        entry = self.turned.get(leaf)
        if entry is None:
            return super().leaf(leaf, indent)
        comments = [line for node in (*leaf.lead, leaf.node) for line in self.shared.renderer.comments(node, indent)]
        return [*comments, indent + self.update(entry)]

    def update(self, entry: MetricEntry) -> str:
        """The call that updates a metric."""
        entry.metric = entry.translate(self)
        held = f"self.{entry.attribute}" if entry.loop is None else self.items[entry.attribute]
        if entry.group is not None:
            given = [(None, held), *((n, self.text(v)) for n, v in entry.metric.update)]
            return format_call(f"{operand(entry.group, self)}.update_all", given)
        return format_call(f"{held}.update_state", [(n, self.text(v)) for n, v in entry.metric.update])

    def updates(self, entry: MetricEntry, indent: str) -> list[str]:
        """The statements at the end that update a metric; none if a loop above does."""
        if entry.loop is None:
            return [indent + self.update(entry)]
        if isinstance(entry.loop, ast.For):
            return []
        update = self.update(entry)
        if not self._words([update]) & targets(entry.loop.target):
            return [
                f"{indent}for {self.items[entry.attribute]} in self.{entry.attribute}:",
                indent + self.unit + update,
            ]
        sources = f"{self.text(entry.loop.iter)}, self.{entry.attribute}"
        target = self.text(entry.loop.target)
        target = f"({target})" if isinstance(entry.loop.target, ast.Tuple) and not target.startswith("(") else target
        head = f"{indent}for {target}, {self.items[entry.attribute]} in zip({sources}):"
        return [head, indent + self.unit + update]


def _item(attribute: str, taken: set[str]) -> str:
    """The name of one metric of a list."""
    name = attribute[:-1] if attribute.endswith("s") and not attribute.endswith("ss") else f"{attribute}_metric"
    while name in taken or name == attribute:
        name += "_"
    return name

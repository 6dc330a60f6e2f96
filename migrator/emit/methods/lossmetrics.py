"""Which metrics `compute_loss` updates: those of terms that the loss computes, so that none is computed twice."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import TYPE_CHECKING

from migrator.analyse.function.translate import format_call
from migrator.analyse.statements.flow import Leaf
from migrator.emit.writer import Writer
from migrator.resolve.syntax import walk

if TYPE_CHECKING:
    from migrator.analyse.results.metrics import MetricEntry
    from migrator.emit.modelwriter import ModelWriter

_BOTH = frozenset({"train", "eval"})
_SHORT = frozenset(
    "argmax cast expand_dims identity reshape sigmoid softmax squeeze to_float to_int32 to_int64".split()
)
"""A single call of these is written twice."""
_METHOD = 3
"""Lines of `compute_metrics` beside what it computes."""


def update_with_loss(
    generator: ModelWriter, loss: Sequence[Leaf], metric: set[Leaf], entries: Sequence[MetricEntry]
) -> set[Leaf]:
    """Notes at the entries which of them `compute_loss` updates, and gives the statements that these need; `loss` and
    `metric` are those of the loss and of the metrics."""
    plan, facts = generator.plan, generator.shared.facts
    texts = {ast.dump(result) for result in generator.losses.values()}
    plain = facts["plain"] and generator.compiled is None and not generator.partial and set(generator.losses) == _BOTH
    if (
        not plain
        or len(texts) > 1
        or plan.fed
        or plan.metric_effects
        or generator.evaluated
        or generator.only_evaluates
    ):
        return set()
    if not all(_BOTH <= leaf.guard for leaf in loss if leaf.defs):
        return set()  # what training computes may not be what evaluation does
    needed = {entry.key: _leaves(generator, entry) & metric for entry in entries}
    may = [
        entry
        for entry in entries
        if entry.loop is None and entry.arm is None and entry.group is None and entry.compiled is None
        if _lasts(generator, entry, needed[entry.key] | set(loss))
    ]
    said = {leaf for leaf in loss if not plan.sites_in(leaf)}  # what makes weights may be of no other use
    twice = [entry for entry in may if _is_long(needed[entry.key] & said)]

    def lines(chosen: list[MetricEntry]) -> int:
        """How long the code is if the loss updates these."""
        rest = [entry for entry in entries if entry not in chosen and entry.compiled is None]
        inside, left = (set[Leaf]().union(*(needed[entry.key] for entry in some)) for some in (chosen, rest))
        return len(inside - set(loss)) + len(left) + _METHOD * bool(rest)

    chosen = min(([], twice, may), key=lines) if twice else []
    for entry in chosen:
        entry.with_loss = True
    return set[Leaf]().union(*(needed[entry.key] for entry in chosen))


def updates(entries: Sequence[MetricEntry], writer: Writer) -> list[str]:
    """The calls that update such metrics."""
    found = []
    for entry in entries:
        entry.metric = entry.translate(writer)
        given = [(n, writer.text(v)) for n, v in entry.metric.update]
        found.append(format_call(f"self.{entry.attribute}.update_state", given))
    return found


def _leaves(generator: ModelWriter, entry: MetricEntry) -> set[Leaf]:
    """The statements that the arguments of a metric depend on."""
    plan = generator.plan
    names = set[str]().union(*(plan.reads(value) for value in entry.values))
    return plan.slicer.closure(names, entry.at.index, "eval", entry.at)


def _lasts(generator: ModelWriter, entry: MetricEntry, leaves: set[Leaf]) -> bool:
    """Whether the arguments of a metric have the same values at the end of all these statements as where it is made."""
    names = set[str]().union(*(generator.plan.reads(value) for value in entry.values))
    if any(names & leaf.defs for leaf in leaves if leaf.index > entry.at.index):
        return False
    return all(isinstance(result, ast.Name) for result in generator.losses.values()) or "loss" not in names


def _is_long(leaves: set[Leaf]) -> bool:
    """Whether statements that two methods would have in common are worth the other place."""
    calls = [node.func for leaf in leaves for node in walk(leaf.node) if isinstance(node, ast.Call)]
    return len(calls) > 1 or any(isinstance(call, ast.Attribute) and call.attr not in _SHORT for call in calls)

"""Writes the lists of callbacks that the hooks of an EstimatorSpec become."""

from __future__ import annotations

import ast
import itertools
from typing import TYPE_CHECKING

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.results.metricreads import read_metrics, summarized
from migrator.analyse.statements.negation import negated
from migrator.rewrite import Row, opened, with_else, without_body

if TYPE_CHECKING:
    from migrator.analyse.training.spec_hooks import SpecHook
    from migrator.emit.modelwriter import ModelWriter
    from migrator.emit.writer import Writer


def callback_rows(generator: ModelWriter, writer: Writer, name: str, hooks: list[SpecHook]) -> list[Row]:
    """The list of callbacks `name`, below the comments of the hooks; nothing without hooks."""
    if not hooks:
        return []
    texts = {hook: _text(generator, writer, hook) for hook in hooks}
    nodes = dict.fromkeys(hook.at.node for hook in hooks if not isinstance(hook.at.node, ast.Return))
    return [*writer.remarks(nodes), *_Lists(writer, name, texts).rows(hooks)]


def _text(generator: ModelWriter, writer: Writer, hook: SpecHook) -> str:
    """The construction of one callback."""
    plan = generator.plan
    metrics = {plan.watched[leaf] for leaf in plan.metric_effects if leaf in plan.watched}
    keys = {key for _, key in hook.names}
    reads_metrics = hook.mode == "train" and bool(keys & metrics)
    if reads_metrics and hook.made.own is not None:
        raise Unsupported("a metric of the training is read by a hook of the program's own", hook.call)
    recorded = summarized(plan) if reads_metrics else set()
    read = [read_metrics(plan, leaf) for leaf in plan.metric_effects if plan.watched.get(leaf) in keys]
    if recorded and recorded != set().union(*read):
        raise Unsupported("a hook and a summary read different metrics of the training", hook.call)
    return hook.text(writer, ["metrics"] * reads_metrics + ["summarized"] * bool(recorded))


class _Lists:
    """The statements that fill one list: one for all hooks, or several where conditions decide."""

    def __init__(self, writer: Writer, name: str, texts: dict[SpecHook, str]) -> None:
        self.writer, self.name, self.texts = writer, name, texts

    def rows(self, hooks: list[SpecHook], depth: int = 0, begun: bool = False) -> list[Row]:
        """The statements for hooks that share their first `depth` conditions; `begun` says that the list exists."""
        found: list[Row] = []
        for condition, run in itertools.groupby(hooks, lambda hook: _at(hook, depth)):
            group = list(run)
            if condition is None:
                found += self._added([self.texts[hook] for hook in group], begun)
            else:
                found += self._conditional(group, depth, begun)
            begun = True
        return found

    def _conditional(self, hooks: list[SpecHook], depth: int, begun: bool) -> list[Row]:
        arms = {arm: [h for h in hooks if h.conditions[depth].arm == arm] for arm in ("body", "orelse")}
        lead: list[Row] = []
        if not (begun or all(arms.values())):  # one arm leaves the list as it is
            lead, begun = self.writer.lines(f"{self.name} = []"), True
        with self.writer.deeper():
            body, orelse = (self.rows(arms[arm], depth + 1, begun) for arm in ("body", "orelse"))
        test, indent = hooks[0].conditions[depth].test, self.writer.indent
        if not body:
            return [*lead, *without_body(negated(test, self.writer.text), orelse, indent)]
        (found,) = opened([f"{indent}if {self.writer.text(test)}:"], body)
        return [*lead, with_else(found, orelse, chain=False) if orelse else found]

    def _added(self, texts: list[str], begun: bool) -> list[Row]:
        writer = self.writer
        if begun and len(texts) == 1:
            return writer.lines(f"{self.name}.append({texts[0]})")
        start = f"{self.name} {'+=' if begun else '='} ["
        line = f"{start}{', '.join(texts)}]"
        if len(writer.indent + line) <= 100 and "\n" not in line:
            return writer.lines(line)
        return writer.lines(start, *(f"{writer.unit}{text}," for text in texts), "]")


def _at(hook: SpecHook, depth: int) -> tuple[ast.AST] | None:
    """What decides on a hook at a depth of conditions, compared by identity."""
    return (hook.conditions[depth].node,) if len(hook.conditions) > depth else None

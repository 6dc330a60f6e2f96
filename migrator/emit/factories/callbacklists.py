"""Writes the lists of callbacks that the hooks of an EstimatorSpec become."""

from __future__ import annotations

import ast
import itertools
from typing import TYPE_CHECKING

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.results.metricreads import read_metrics, summarized
from migrator.analyse.statements.negation import negated, without_body

if TYPE_CHECKING:
    from migrator.analyse.training.spec_hooks import SpecHook
    from migrator.emit.modelwriter import ModelWriter
    from migrator.emit.writer import Writer


def callback_lines(generator: ModelWriter, writer: Writer, name: str, hooks: list[SpecHook], indent: str) -> list[str]:
    """The list of callbacks `name`, below the comments of the hooks; nothing without hooks."""
    if not hooks:
        return []
    texts = {hook: _text(generator, writer, hook) for hook in hooks}
    comments = []
    for node in dict.fromkeys(hook.at.node for hook in hooks if not isinstance(hook.at.node, ast.Return)):
        comments += generator.shared.renderer.comments(node, indent)
    return [*comments, *_Lists(writer, name, texts).lines(hooks, indent)]


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

    def lines(self, hooks: list[SpecHook], indent: str, depth: int = 0, begun: bool = False) -> list[str]:
        """The statements for hooks that share their first `depth` conditions; `begun` says that the list exists."""
        lines: list[str] = []
        for condition, run in itertools.groupby(hooks, lambda hook: _at(hook, depth)):
            group = list(run)
            if condition is None:
                lines += self._added([self.texts[hook] for hook in group], indent, begun)
            else:
                lines += self._conditional(condition[0], group, indent, depth, begun)
            begun = True
        return lines

    def _conditional(self, node: ast.AST, hooks: list[SpecHook], indent: str, depth: int, begun: bool) -> list[str]:
        arms = {arm: [h for h in hooks if h.conditions[depth].arm == arm] for arm in ("body", "orelse")}
        lead = []
        if not (begun or all(arms.values())):  # one arm leaves the list as it is
            lead, begun = [f"{indent}{self.name} = []"], True
        inner = indent + self.writer.unit
        body, orelse = (self.lines(arms[arm], inner, depth + 1, begun) for arm in ("body", "orelse"))
        test = hooks[0].conditions[depth].test
        if not body:
            return [*lead, *without_body(negated(test, self.writer.text), orelse, indent, self.writer.unit)]
        lines = [*lead, f"{indent}if {self.writer.text(test)}:", *body]
        return [*lines, f"{indent}else:", *orelse] if orelse else lines

    def _added(self, texts: list[str], indent: str, begun: bool) -> list[str]:
        if begun and len(texts) == 1:
            line = f"{indent}{self.name}.append({texts[0]})"
        else:
            line = f"{indent}{self.name} {'+=' if begun else '='} [{', '.join(texts)}]"
        if (len(line) <= 100 and "\n" not in line) or (begun and len(texts) == 1):
            return [line]
        inner = indent + self.writer.unit
        opening = line[: line.index("[") + 1]
        return [opening, *(f"{inner}{text}," for text in texts), f"{indent}]"]


def _at(hook: SpecHook, depth: int) -> tuple[ast.AST] | None:
    """What decides on a hook at a depth of conditions, compared by identity."""
    return (hook.conditions[depth].node,) if len(hook.conditions) > depth else None

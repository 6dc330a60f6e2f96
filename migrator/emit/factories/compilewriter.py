"""Writes the call of `compile`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from migrator.analyse.results.compiledloss import loss_text
from migrator.analyse.results.compiledmetrics import metrics_text
from migrator.emit.factories.strategywriter import EXACT
from migrator.rewrite import Row

if TYPE_CHECKING:
    from migrator.analyse.statements.flow import Leaf
    from migrator.emit.modelwriter import ModelWriter
    from migrator.emit.writer import Writer

_LONG = 100
_WIDE = 116


@dataclass(frozen=True)
class _Argument:
    """An argument of `compile`, in the lines that it takes if the call is broken."""

    text: str
    comments: tuple[str, ...] = ()
    """Comments of the statements whose place it takes."""
    why: str = ""
    parts: tuple[str, ...] = ()
    """The entries of a list."""

    def lines(self, indent: str, unit: str) -> Iterator[str]:
        """The argument with what is said of it."""
        yield from self.comments
        if self.parts and len(indent + unit + self.text) > _LONG:
            yield f"{self.text.partition('[')[0]}["
            yield from (f"{unit}{part}," for part in self.parts)
            yield "],"
        else:
            yield f"{self.text},{f'  # {self.why}' if self.why else ''}"


def compile_rows(generator: ModelWriter, writer: Writer, optimizer: str) -> list[Row]:
    """The call of `compile`, with the comments of the statements whose place it takes; `writer` writes its arguments."""
    loss, arguments, facts, plan = generator.compiled, [], generator.shared.facts, generator.plan
    if optimizer:
        arguments.append(_Argument(f"optimizer={optimizer}"))
    if loss is not None:
        leaves = [leaf for leaf in plan.ordered(loss.leaves) if leaf in plan.loss_leaves]
        text = f"loss={loss_text(loss, writer)}"
        arguments.append(_Argument(text, _comments(generator, leaves)))
    metrics = metrics_text(generator.entries, writer)
    if metrics:
        placed = all(entry.compiled for entry in generator.entries)
        leaves = plan.ordered({leaf for entry in generator.entries for leaf in entry.leaves}) if placed else []
        text = f"metrics=[{', '.join(metrics)}]"
        arguments.append(_Argument(text, _comments(generator, leaves), parts=tuple(metrics)))
    if optimizer and generator.together > 1:
        arguments.append(_Argument(f"steps_per_execution={generator.together}", why="steps in a call: for speed alone"))
    if optimizer and facts["recorded"]:
        arguments.append(_Argument("jit_compile=False", why="XLA writes no summaries"))
    if facts["plain"] and facts["cluster"] and facts["evaluated"]:
        arguments.append(_Argument(f"**{EXACT}"))
    line = f"model.compile({', '.join(argument.text for argument in arguments)})"
    why = [argument.why for argument in arguments if argument.why]
    if len(writer.indent + line) <= _LONG or "\n" in optimizer or not (loss or metrics):
        comments = [comment for argument in arguments for comment in argument.comments]
        remark = f"  # {why[0]}" if len(why) == 1 and len(writer.indent + line + why[0]) < _WIDE else ""
        return writer.lines(*comments, f"{line}{remark}")
    lines = [line for argument in arguments for line in argument.lines(writer.indent, writer.unit)]
    return writer.lines("model.compile(", *(f"{writer.unit}{line}" for line in lines), ")")


def _comments(generator: ModelWriter, leaves: Sequence[Leaf]) -> tuple[str, ...]:
    """The comments of statements."""
    nodes = [node for leaf in leaves for node in (*leaf.lead, leaf.node)]
    return tuple(comment.lstrip() for node in nodes for comment in generator.shared.renderer.comments(node, ""))

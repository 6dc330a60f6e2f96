"""Writes how a model writes its summaries: while it trains, at steps of its optimizer, to a writer that the program gives it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.training.spec_hooks import STEP_LOGS

if TYPE_CHECKING:
    from migrator.emit.modelwriter import ModelWriter

WRITER, EVERY = "summary_writer", "summary_steps"
"""Attributes of the model."""


def init_lines(generator: ModelWriter) -> list[str]:
    """The attributes as they are until the program sets them."""
    indent = generator.indent + generator.unit * 2
    if generator.taken & {WRITER, EVERY}:
        raise Unsupported(f"`{WRITER}` is a name that the generated model needs", generator.plan.function)
    return [
        f"{indent}self.{WRITER} = {generator.shared.tf}.summary.create_noop_writer()",
        f"{indent}self.{EVERY} = 100",
    ]


def logs_lines(generator: ModelWriter) -> list[str]:
    """The attribute for what steps have for callbacks."""
    if STEP_LOGS in generator.taken:
        raise Unsupported(f"`{STEP_LOGS}` is a name that the generated model needs", generator.plan.function)
    return [f"{generator.indent + generator.unit * 2}self.{STEP_LOGS} = {{}}"]


def logged_step(generator: ModelWriter, step: list[str]) -> list[str]:
    """`train_step` that gives callbacks more than Keras does; `step` are the lines of the model's own, if it has one."""
    indent = generator.indent + generator.unit * 2
    if not step:
        step = [
            f"{generator.indent}{generator.unit}def train_step(self, data):",
            f"{indent}return super().train_step(data)",
        ]
    head, found, logs = step[-1].partition("return ")
    if head != indent or not found:
        raise Unsupported("values that hooks read beside a train op of several steps", generator.plan.function)
    return [*step[:-1], f"{indent}return {{**{logs}, **self.{STEP_LOGS}}}"]


def recorded_step(generator: ModelWriter, step: list[str]) -> list[str]:
    """`train_step` that writes summaries; `step` are the lines of the model's own, if it has one."""
    plan, tf, unit = generator.plan, generator.shared.tf, generator.unit
    indent = generator.indent + unit * 2
    names = [next(n for n in (name, f"{name}_") if not step or not plan.is_local(n)) for name in ("steps", "recorded")]
    scope = f'{tf}.name_scope(""), ' if generator.shared.facts["grouped"] else ""  # else tags begin with that of a loop
    writing = f"self.{WRITER}.as_default({names[0]} + 1), {tf}.summary.record_if({names[1]})"
    head, body = _method(generator, "train_step", step)
    return [
        head,
        f"{indent}{names[0]} = self.optimizer.iterations",
        f"{indent}{names[1]} = {names[0]} % self.{EVERY} == 0",
        f"{indent}with {scope}{writing}:",
        *body,
    ]


def counted_step(generator: ModelWriter, step: list[str]) -> list[str]:
    """`train_step` whose optimizer takes no step without a batch; `step` are the lines of the model's own, if it has one."""
    head, body = _method(generator, "train_step", step)
    indent, tf = generator.indent + generator.unit * 2, generator.shared.tf
    return [
        head,
        f"{indent}# Else Keras counts a step where it finds that the data end.",
        f"{indent}with {tf}.control_dependencies({tf}.nest.flatten(data, expand_composites=True)):",
        *body,
    ]


def silent_step(generator: ModelWriter, step: list[str]) -> list[str]:
    """`test_step` that writes no summaries to the folder of the evaluations, as an Estimator writes none."""
    head, body = _method(generator, "test_step", step)
    indent = generator.indent + generator.unit * 2
    return [head, f"{indent}with {generator.shared.tf}.summary.record_if(False):", *body]


def _method(generator: ModelWriter, name: str, lines: list[str]) -> tuple[str, list[str]]:
    """The head of a method and its body one level deeper; that of Keras, where the model has none of its own."""
    indent = generator.indent + generator.unit * 2
    if not lines:
        return f"{generator.indent}{generator.unit}def {name}(self, data):", [
            f"{indent}{generator.unit}return super().{name}(data)"
        ]
    if any('"""' in line or "'''" in line for line in lines):
        raise Unsupported("a text of several lines in the train op is not migrated yet", generator.plan.function)
    return lines[0], [f"{generator.unit}{line}" if line.strip() else line for line in lines[1:]]

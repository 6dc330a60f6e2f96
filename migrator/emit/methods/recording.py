"""Writes how a model writes its summaries: while it trains, at steps of its optimizer, to a writer that the program gives it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.training.spec_hooks import STEP_LOGS
from migrator.rewrite import Row, Statement, body_of, returned, statements, with_body

if TYPE_CHECKING:
    from migrator.emit.modelwriter import ModelWriter

WRITER, EVERY = "summary_writer", "summary_steps"
"""Attributes of the model."""


def recorded_attributes(generator: ModelWriter) -> Sequence[Row]:
    """The attributes as they are until the program sets them."""
    if generator.taken & {WRITER, EVERY}:
        raise Unsupported(f"`{WRITER}` is a name that the generated model needs", generator.plan.function)
    return statements(
        """
        self.{writer} = {tf}.summary.create_noop_writer()
        self.{every} = 100
        """,
        writer=WRITER,
        tf=generator.shared.tf,
        every=EVERY,
    )


def logged_attributes(generator: ModelWriter) -> Sequence[Row]:
    """The attribute for what steps have for callbacks."""
    if STEP_LOGS in generator.taken:
        raise Unsupported(f"`{STEP_LOGS}` is a name that the generated model needs", generator.plan.function)
    return statements("self.{logs} = {{}}", logs=STEP_LOGS)


def logged_step(generator: ModelWriter, step: Sequence[Row]) -> Sequence[Row]:
    """`train_step` that gives callbacks more than Keras does; `step` is the model's own, if it has one."""
    method = _method("train_step", step)
    *above, last = body_of(method)
    logs = returned(last)
    if logs is None:
        raise Unsupported("values that hooks read beside a train op of several steps", generator.plan.function)
    end = statements("return {{**{logs}, **self.{more}}}", logs=logs, more=STEP_LOGS)
    return [with_body(method, [*above, *end])]


def recorded_step(generator: ModelWriter, step: Sequence[Row]) -> Sequence[Row]:
    """`train_step` that writes summaries; `step` is the model's own, if it has one."""
    plan = generator.plan
    names = [next(n for n in (name, f"{name}_") if not step or not plan.is_local(n)) for name in ("steps", "recorded")]
    scope = '{tf}.name_scope(""), ' if generator.shared.facts["grouped"] else ""  # else tags begin with that of a loop
    method = _method("train_step", step)
    body = statements(
        f"""
        {{steps}} = self.optimizer.iterations
        {{recorded}} = {{steps}} % self.{EVERY} == 0
        with {scope}self.{WRITER}.as_default({{steps}} + 1), {{tf}}.summary.record_if({{recorded}}):
            {{body}}
        """,
        steps=names[0],
        recorded=names[1],
        tf=generator.shared.tf,
        body=body_of(method),
    )
    return [with_body(method, body)]


def counted_step(generator: ModelWriter, step: Sequence[Row]) -> Sequence[Row]:
    """`train_step` whose optimizer takes no step without a batch; `step` is the model's own, if it has one."""
    return _waiting(generator, _method("train_step", step), "Keras counts a step")


def counted_evaluation(generator: ModelWriter, step: Sequence[Row]) -> Sequence[Row]:
    """`test_step` whose metrics count no batch behind the last; `step` is the model's own, if it has one."""
    return _waiting(generator, _method("test_step", step), "Keras 3 counts a batch")


def _waiting(generator: ModelWriter, method: Statement, counted: str) -> Sequence[Row]:
    """A step that waits for its batch: else something is `counted` where there is none."""
    body = statements(
        f"""
        # Else {counted} where it finds that the data end.
        with {{tf}}.control_dependencies({{tf}}.nest.flatten(data, expand_composites=True)):
            {{body}}
        """,
        tf=generator.shared.tf,
        body=body_of(method),
    )
    return [with_body(method, body)]


def silent_step(generator: ModelWriter, step: Sequence[Row]) -> Sequence[Row]:
    """`test_step` that writes no summaries to the folder of the evaluations, as an Estimator writes none."""
    method = _method("test_step", step)
    template = "with {tf}.summary.record_if(False):\n    {body}"
    body = statements(template, tf=generator.shared.tf, body=body_of(method))
    return [with_body(method, body)]


def _method(name: str, own: Sequence[Row]) -> Statement:
    """A method of the model; that of Keras, where it has none of its own."""
    if not own:
        own = statements("def {name}(self, data):\n    return super().{name}(data)", name=name)
    (method,) = own
    return cast("Statement", method)

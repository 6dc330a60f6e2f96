"""Learning rates that a program computes from the global step by its own means: schedules of its own."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.function.plan import Rate
from migrator.analyse.statements.bindingtime import Time
from migrator.analyse.statements.flow import Leaf
from migrator.analyse.statements.names import reads
from migrator.analyse.training.optimizervalues import rate_of
from migrator.emit.expressions import Shared
from migrator.emit.writer import Writer
from migrator.resolve.syntax import walk
from migrator.rewrite import Row, returned_at_once, rows, statements, trimmed

if TYPE_CHECKING:
    from migrator.analyse.function.body import Body


def find_rates(body: Body) -> list[Rate]:
    """Learning rates that are neither plain values nor one schedule. Raises Unsupported where data decide on them."""
    found: list[Rate] = []
    for leaf in body.flow.leaves:
        for call in walk(leaf.node) if "train" in leaf.modes else ():
            value = rate_of(body, call) if isinstance(call, ast.Call) else None
            if value is None or body.times.of(value) <= Time.MODE or _is_schedule(body, value, leaf):
                continue
            needed = body.slicer.closure(reads(value), leaf.index, "train", leaf)
            leaves = tuple(other for other in body.ordered(needed) if body.time(other) > Time.MODE)
            for other in reversed(leaves):
                if body.time(other) is Time.DYNAMIC:
                    raise Unsupported("the learning rate depends on the data", other.node)
            found.append(Rate(value, leaf, leaves, _name(body, value, leaves, found)))
    return found


def _name(body: Body, value: ast.expr, leaves: tuple[Leaf, ...], others: list[Rate]) -> str:
    """``LearningRate``; one name for one rate that several optimizers take."""
    words = value.id.split("_") if isinstance(value, ast.Name) and len(value.id) > 2 else ["learning", "rate"]
    stem = "".join(word.capitalize() for word in words)
    for other in others:
        if other.leaves == leaves and ast.dump(other.value) == ast.dump(value):
            return other.schedule
    taken = {*(other.schedule for other in others), *body.module.bound_names}
    return next(name for name in (stem, *(f"{stem}{n}" for n in range(2, len(taken) + 3))) if name not in taken)


def _is_schedule(body: Body, value: ast.expr, at: Leaf) -> bool:
    """Whether a learning rate is the result of one TF1 schedule with static arguments."""
    call, _ = body.followed_in(value, at, "train")
    if not isinstance(call, ast.Call) or body.module.resolve(call.func) not in body.translations.schedules:
        return False
    if isinstance(value, ast.Name) and len(body.definitions(value.id)) != 1:
        return False
    given = [*call.args, *(k.value for k in call.keywords)]
    tensors = [argument for argument in given if body.times.of(argument) > Time.MODE]
    return len(tensors) == 1 and body.is_step(tensors[0])


class RateWriter(Writer):
    """Writes the body of the method that is called; `step` is its parameter."""

    def __init__(self, shared: Shared, rate: Rate, names: dict[str, str]) -> None:
        super().__init__(shared, "rate", names)
        self.step = "step"
        for leaf in rate.leaves:
            if self._is_step_call(leaf.node.value if isinstance(leaf.node, ast.Assign) else None):
                assert isinstance(leaf.node, ast.Assign)
                target = leaf.node.targets[0]
                if isinstance(target, ast.Name) and not leaf.frames and len(leaf.node.targets) == 1:
                    self.step = target.id
                    self.skip.add(leaf.node)
                    break

    def _is_step_call(self, node: ast.AST | None) -> bool:
        return isinstance(node, ast.Call) and self.resolve(node.func) in self.plan.translations.steps

    def transform(self, node: ast.AST) -> str | None:
        """The global step is the parameter."""
        return self.step if self._is_step_call(node) else super().transform(node)


def rate_rows(shared: Shared, rate: Rate, depth: int, names: dict[str, str]) -> list[Row]:
    """The class; `depth` is the number of frames around it, `names` has the text of names that change."""
    writer = RateWriter(shared, rate, names)
    body = trimmed(writer.rows(list(rate.leaves), depth))
    value = writer.text(rate.value)
    made = returned_at_once([*body, *writer.lines(f"return {value}")])
    base = f"{writer.tf}.keras.optimizers.schedules.LearningRateSchedule"
    return [
        *rows([""]),
        *statements(
            """
            class {schedule}({base}):
                def __call__(self, {step}):
                    {body}

                def get_config(self):
                    return {{}}
            """,  # what `__init__` takes
            schedule=rate.schedule,
            base=base,
            step=writer.step,
            body=made,
        ),
        *rows([""]),
    ]

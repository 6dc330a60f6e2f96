"""The learning rate of a run that goes on: its own, as in a graph, where Keras restores that of the checkpoint."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.function.plan import Plan
from migrator.analyse.statements.bindingtime import Time
from migrator.analyse.training.optimizervalues import rate_of, values_of
from migrator.analyse.training.trainop import train_op
from migrator.analyse.training.updates import Update
from migrator.resolve.syntax import walk


def rates_of(plans: list[Plan]) -> tuple[str, ...]:
    """The attributes of a model with those optimizers whose learning rate is a number that each run may be given anew."""
    found = {_rated(plan) for plan in plans}
    return found.pop() if len(found) == 1 else ()


def _rated(plan: Plan) -> tuple[str, ...]:
    try:
        op = train_op(plan)
    except Unsupported:
        return ()
    given = [op.attribute(update) for update in op.updates if _is_given(plan, update)] if op is not None else []
    return tuple(dict.fromkeys(given))


def _is_given(plan: Plan, update: Update) -> bool:
    """Whether the rate of an optimizer of TensorFlow 1 is a number, and none that the program writes out."""
    rates = []
    for value, at in values_of(plan, update.optimizer, update.at):
        if not isinstance(value, ast.Call) or (plan.module.resolve(value.func) or "").startswith(_OWN):
            return False
        rate = rate_of(plan, value)
        if rate is None or plan.times.of(rate) > Time.MODE:
            return False
        rates.append(plan.followed_in(rate, at, "train")[0])
    return any(rate is not None and not _is_written_out(plan, rate) for rate in rates)


_OWN = "tensorflow.keras."
"""Optimizers that keep their rate in a variable in a graph, too."""


def _is_written_out(plan: Plan, node: ast.expr) -> bool:
    """Whether nothing but numbers of the source are in an expression."""
    named = [
        plan.module.assignment(part) for part in walk(node) if isinstance(part, (ast.Name, ast.Attribute, ast.Call))
    ]
    return all(statement is not None and isinstance(statement.value, ast.Constant) for statement in named)


def kept(rates: Iterable[str], model: str, unused: Callable[[str], str]) -> tuple[list[str], list[str]]:
    """The lines above and below the one that restores a `model`, which keep the rates of a run."""
    above, below = [], []
    for attribute in rates:
        rate = f"{model}.{attribute}.learning_rate"
        name = unused("learning_rate" if attribute == "optimizer" else f"{attribute}_learning_rate")
        above.append(f"{name} = {rate}.numpy()")
        below.append(f"{rate} = {name}  # of this run, not of the checkpoint")
    return above, below

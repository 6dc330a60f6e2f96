"""The learning rate of a run that goes on: its own, as in a graph, where Keras restores that of the checkpoint."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.function.plan import Plan
from migrator.analyse.statements.bindingtime import Time
from migrator.analyse.training.optimizervalues import rate_of, values_of
from migrator.analyse.training.trainop import train_op
from migrator.analyse.training.updates import Update
from migrator.resolve.module import Module
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
    return any(rate is not None and not _is_written_out(plan.module, rate) for rate in rates)


_OWN = "tensorflow.keras."
"""Optimizers that keep their rate in a variable in a graph, too."""


def rates_of_calls(module: Module, optimizers: Mapping[str, ast.expr]) -> tuple[str, ...]:
    """The same attributes where calls, or functions around these, make the optimizers of a canned Estimator."""
    return tuple(attribute for attribute, made in optimizers.items() if _is_given_by(module, made))


def _is_given_by(module: Module, made: ast.expr) -> bool:
    call = made.body if isinstance(made, ast.Lambda) else made
    if not isinstance(call, ast.Call):
        return False
    name = module.resolve(call.func) or ""
    rate = next((k.value for k in call.keywords if k.arg == "learning_rate"), call.args[0] if call.args else None)
    if rate is None or not name.startswith("tensorflow.") or name.startswith(_OWN) or _is_written_out(module, rate):
        return False
    parts = [part for part in walk(rate) if isinstance(part, (ast.Name, ast.Attribute))]
    held = [statement.value for part in parts if (statement := module.assignment(part)) is not None and statement.value]
    read = [each for value in (rate, *held) for each in walk(value) if isinstance(each, (ast.Name, ast.Attribute))]
    return not any((module.resolve(each) or "").startswith("tensorflow.") for each in read)  # which may be a schedule


def _is_written_out(module: Module, node: ast.expr) -> bool:
    """Whether nothing but numbers of the source are in an expression."""
    named = [module.assignment(part) for part in walk(node) if isinstance(part, (ast.Name, ast.Attribute, ast.Call))]
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

"""Hooks that evaluate amid a training, or ask a function of the program whether it goes on."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.function.translate import bind, is_empty, is_none
from migrator.resolve.module import Module

from ..hooks.hooks import HOOKS, hook_of
from ..loop.data.datasets import Reader
from ..loop.inputs import Input, read_input

EVALUATOR, ASKED = "InMemoryEvaluatorHook", "make_early_stopping_hook"
EVALUATES = "EvaluateEvery"
"""The helper for the first of them."""
VALIDATES = "ValidateEvery"
"""That for `train_and_evaluate` on data of an unknown number."""
SELDOM = 100
"""Steps between two questions of a hook that asks by time."""


@dataclass(frozen=True)
class Evaluator:
    """A hook that evaluates every so many steps."""

    name: ast.expr
    """The reference to its class."""
    estimator: ast.expr
    input: Input
    steps: ast.expr | None
    every: ast.expr | None
    label: ast.expr | None
    """What its evaluations are called."""

    @property
    def parts(self) -> tuple[ast.expr, ...]:
        """Expressions that are written elsewhere."""
        return tuple(part for part in (self.input.function, self.steps, self.every, self.label) if part is not None)


@dataclass(frozen=True)
class Asked:
    """A hook that ends a training where a function says so."""

    name: ast.expr
    """The reference to the function that makes it."""
    estimator: ast.expr
    function: ast.expr
    every: ast.expr | None
    """Steps between two questions; None: it asks by time."""

    @property
    def parts(self) -> tuple[ast.expr, ...]:
        """Expressions that are written elsewhere."""
        return (self.function,) if self.every is None else (self.function, self.every)


def takes_estimator(name: str | None) -> bool:
    """Whether a qualified name is that of such a hook."""
    return hook_of(name) in (EVALUATOR, ASKED)


def given_of(module: Module, call: ast.Call, reader: Reader, params: ast.expr | None) -> Evaluator | Asked | str:
    """What such a hook says, or why it is not understood; `params` are those that the Estimator gives to input functions."""
    short = hook_of(module.resolve(call.func)) or ""
    try:
        bound = bind(call, HOOKS[short].signature, short)
    except Unsupported as problem:
        return problem.reason
    given = {name: value for name, value in bound.items() if not is_none(value)}
    if "estimator" not in given:
        return "hooks"
    if short == ASKED:
        if "should_stop_fn" not in given:
            return "hooks"
        return Asked(call.func, given["estimator"], given["should_stop_fn"], given.get("run_every_steps"))
    if "input_fn" not in given or not is_empty(given.get("hooks")):
        return "hooks of an InMemoryEvaluatorHook"
    found = read_input(reader, module, given["input_fn"], "evaluate", params)
    if isinstance(found, str):
        return found
    steps = given.get("steps")
    whole = found.read_whole if steps is None else None if found.data.batch else found
    if whole is None:
        return "an InMemoryEvaluatorHook on data without an end"
    return Evaluator(call.func, given["estimator"], whole, steps, given.get("every_n_iter"), given.get("name"))

"""What the hooks of a model_fn are for `fit`, and what its steps have for those of trainings."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.function.plan import Plan
from migrator.analyse.results.stepvalues import StepValues, step_values
from migrator.analyse.training.spec_hooks import SpecHook

from .callback_classes import OwnHook, own_hook_of_spec
from .hooks import HOOKS, LOGGING
from .logged_values import Logged, logged

_UNSEEN = "hooks of its model_fn"


@dataclass(frozen=True)
class ModelHooks:
    """Those of one model_fn."""

    values: StepValues = StepValues()
    """What its steps have for callbacks."""
    logged: tuple[Logged, ...] = ()
    """What its hooks log."""
    own: tuple[OwnHook, ...] = ()
    """Its hooks of classes of the program."""
    terminates: bool = False
    """Whether one of them ends a training whose loss is not a number."""


def model_hooks(plans: Sequence[Plan]) -> ModelHooks | str:
    """The hooks of the model_fns that an Estimator may be made with, or why they are not understood."""
    terminates = any(plan.spec_hooks.checks_loss for plan in plans)
    if len(plans) > 1:
        return _UNSEEN if any(plan.spec_hooks.hooks for plan in plans) else ModelHooks(terminates=terminates)
    values = _values(plans[0])
    found = [_hook(plans[0], hook, values) for hook in plans[0].spec_hooks.hooks]
    for each in found:
        if isinstance(each, str):
            return each
    lines = tuple(each for each in found if isinstance(each, Logged))
    return ModelHooks(values, lines, tuple(each for each in found if isinstance(each, OwnHook)), terminates)


def _values(plan: Plan) -> StepValues:
    """What its steps have for callbacks; nothing where the model cannot be written anyway."""
    try:
        return step_values(plan)
    except Unsupported:
        return StepValues(shown=False)


def _hook(plan: Plan, hook: SpecHook, values: StepValues) -> Logged | OwnHook | str:
    """What a hook of an EstimatorSpec is, or why it is not understood."""
    if hook.conditions or hook.mode != "train":
        return _UNSEEN
    known = {name: values.given.get(name) or values.named.get(name) for _, name in hook.names}
    if hook.made.own is not None:
        given = {parameter: known[name] for parameter, name in hook.names}
        return own_hook_of_spec(plan.module, hook.made.own, dict(hook.made.tensors), given, values)
    if hook.made.callback != HOOKS[LOGGING].callback:
        return _UNSEEN
    arguments = {str(name): value for name, value in hook.made.arguments if isinstance(value, ast.expr)}
    line = logged(((tag, name, known[name]) for tag, name in hook.names), arguments, values, hook.call)
    if isinstance(line, str) or all(isinstance(part, ast.Constant) for part in line.parts):
        return line
    return _UNSEEN

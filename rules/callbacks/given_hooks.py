"""All hooks of a training or an evaluation: those that it is given, and those of its model_fn that say when it ends and saves."""

from __future__ import annotations

import ast
from dataclasses import replace

from migrator.analyse.function.errors import Unsupported

from .keras_callbacks import Given, Hooks, hooks_of, limit_of
from .model_hooks import ModelHooks
from .savers import Saver, listeners_of, saver_of


def hooks_given(given: Given, told: dict[str, ast.expr], model: ModelHooks) -> Hooks | str:
    """The hooks among the arguments that are `told`, which get its limit in their place, or why they are not understood."""
    listeners, found = told.pop("saving_listeners", None), Hooks()
    if "hooks" in told:
        hooks = hooks_of(given, told.pop("hooks"))
        if isinstance(hooks, str):
            return hooks
        found = hooks
    if found.limit:
        if told.keys() & {"steps", "max_steps"}:
            return "a StopAtStepHook beside a number of steps"
        told.update(found.limit)
    found = replace(found, conditions=(*found.conditions, *model.conditions))
    if not given.evaluated:
        more = _with_those_of_model(given, found, told, model)
        if isinstance(more, str):
            return more
        found = more
    if listeners is not None:
        if found.saver is not None or given.settings.directory is None:
            return "`saving_listeners` of train"
        try:
            found = replace(found, saver=Saver(listeners=listeners_of(given.reader.project, given.module, listeners)))
        except Unsupported as problem:
            return problem.reason
    return found


def _with_those_of_model(given: Given, found: Hooks, told: dict[str, ast.expr], model: ModelHooks) -> Hooks | str:
    """The hooks of a training, and what hooks of its model_fn say of it."""
    both = found.and_of_model(model.hooks)
    if isinstance(both, str):
        return both
    if model.stop is not None:
        limited = bool(told.keys() & {"steps", "max_steps"})
        if limited and "num_steps" in model.stop.arguments:
            return "a StopAtStepHook beside a number of steps"
        told.update({} if limited else limit_of(model.stop))
    if model.saver is not None and model.plan is not None:
        saver = saver_of(given.reader.project, model.plan.module, model.saver, given.settings, given.estimator)
        if isinstance(saver, str) or both.saver is not None:
            return saver if isinstance(saver, str) else "two hooks that save"
        both = replace(both, saver=replace(saver, names=()))
    return both

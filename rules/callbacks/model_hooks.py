"""What the hooks of a model_fn are for `fit`, and what its steps have for those of trainings."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.function.plan import Plan
from migrator.analyse.results.stepvalues import LOSS, METRIC, StepValues, step_values
from migrator.analyse.training.spec_hooks import SpecHook
from migrator.resolve.syntax import walk

from ..hooks.hooks import HOOKS, LOGGING, SAVING
from ..hooks.spec_hooks import SUMMARIES
from .callback_classes import OwnHook, own_hook_of_spec
from .elements import Condition
from .keras_callbacks import STOP, Callback, Hook, library_hook
from .logged_values import Logged, logged

_UNSEEN = "hooks of its model_fn"
_ACTING = ("assign", "scatter", "count_up", "print", "py_func", "group", "write", "save", "export", "initialize_")
"""What stands in the names of functions that do more than to compute."""


@dataclass(frozen=True)
class ModelHooks:
    """Those of one model_fn."""

    values: StepValues = StepValues()
    """What its steps have for callbacks."""
    logged: tuple[Logged, ...] = ()
    """What its hooks log."""
    evaluated: tuple[Logged, ...] = ()
    """What they log in evaluations."""
    own: tuple[OwnHook, ...] = ()
    """Its hooks of classes of the program."""
    hooks: tuple[Hook, ...] = ()
    """Those of the library."""
    saver: ast.Call | None = None
    """The one that says when a training saves."""
    summaries: dict[str, ast.expr] = field(default_factory=dict)
    """What a hook says that writes all summaries."""
    conditions: tuple[tuple[Callback, Condition], ...] = ()
    """What has to hold for some of them."""
    terminates: bool = False
    """Whether one of them ends a training whose loss is not a number."""
    plan: Plan | None = None
    """The model_fn, where one of them is made of more than constants: of a class of the program, for example."""

    @property
    def stop(self) -> Hook | None:
        """The one that ends trainings at a step."""
        return next((hook for hook in self.hooks if hook.short == STOP), None)

    @property
    def parts(self) -> tuple[ast.expr, ...]:
        """Expressions of the model_fn that are written where it trains."""
        lines = (part for line in (*self.logged, *self.evaluated) for part in line.parts)
        told = (value for hook in self.hooks for value in hook.arguments.values())
        own = (part for each in self.own for part in each.arguments)
        saving = [] if self.saver is None else [*self.saver.args, *(k.value for k in self.saver.keywords)]
        tests = (condition.node for _, condition in self.conditions)
        return (*lines, *told, *own, *saving, *self.summaries.values(), *tests)

    @property
    def told(self) -> tuple[Logged | OwnHook, ...]:
        """Those that a condition may choose."""
        return (*self.logged, *self.evaluated, *self.own)


def model_hooks(plans: Sequence[Plan]) -> ModelHooks | str:
    """The hooks of the model_fns that an Estimator may be made with, or why they are not understood."""
    terminates = any(plan.spec_hooks.checks_loss for plan in plans)
    if len(plans) > 1:
        return _UNSEEN if any(plan.spec_hooks.hooks for plan in plans) else ModelHooks(terminates=terminates)
    values = _values(plans[0])
    found = ModelHooks(values, terminates=terminates)
    for hook in plans[0].spec_hooks.hooks:
        more = _with(plans[0], hook, found)
        if isinstance(more, str):
            return more
        found = more
    constant = found.saver is None and not found.own and all(isinstance(part, ast.Constant) for part in found.parts)
    return found if constant else replace(found, plan=plans[0])


def _values(plan: Plan) -> StepValues:
    """What its steps have for callbacks; nothing where the model cannot be written anyway."""
    try:
        return step_values(plan)
    except Unsupported:
        return StepValues(shown=False)


def _with(plan: Plan, hook: SpecHook, found: ModelHooks) -> ModelHooks | str:
    """All hooks and another one of an EstimatorSpec, or why that is not understood."""
    if len(hook.conditions) > 1 or hook.mode not in ("train", "eval"):
        return _UNSEEN
    more = _unconditional(plan, hook, found)
    if not hook.conditions or isinstance(more, str):
        return more
    test, negated = hook.conditions[0].test, hook.conditions[0].arm == "orelse"
    new: list[Callback] = [each for each in more.told if not any(each is old for old in found.told)]
    if not new or not hasattr(test, "lineno"):
        return _UNSEEN
    return replace(more, conditions=(*more.conditions, (new[0], Condition(test, negated))))


def _unconditional(plan: Plan, hook: SpecHook, found: ModelHooks) -> ModelHooks | str:
    """The same, whatever its condition."""
    evaluated, values = hook.mode == "eval", found.values
    given = values.evaluated if evaluated else values.given
    known = {name: given.get(name) or (None if evaluated else values.named.get(name)) for _, name in hook.names}
    if hook.made.own is not None:
        told = {parameter: known[name] for parameter, name in hook.names}
        own = own_hook_of_spec(plan, hook.made.own, dict(hook.made.tensors), told, values, evaluated)
        return own if isinstance(own, str) else replace(found, own=(*found.own, own))
    if hook.made.callback == HOOKS[LOGGING].callback:
        arguments = {str(name): value for name, value in hook.made.arguments if isinstance(value, ast.expr)}
        line = logged(((tag, name, known[name]) for tag, name in hook.names), arguments, values, hook.call)
        if isinstance(line, str):
            return line
        if evaluated and not all(value is not None and value.kind in (LOSS, METRIC) for value in known.values()):
            return "a tensor that is logged in evaluations"
        if evaluated:
            return replace(found, evaluated=(*found.evaluated, line))
        return replace(found, logged=(*found.logged, line))
    if evaluated:
        return _UNSEEN
    return _of_library(plan, hook, found)


def _of_library(plan: Plan, hook: SpecHook, found: ModelHooks) -> ModelHooks | str:
    """All hooks and another one of the library, which reads no tensor of a step."""
    made = hook.made
    if made.callback == SUMMARIES and not found.summaries:
        return replace(found, summaries={str(n): v for n, v in made.arguments if isinstance(v, ast.expr)})
    if made.callback == HOOKS[SAVING].callback and found.saver is None:
        return replace(found, saver=hook.call)
    if made.final is not None and not _is_read(plan, "final_ops_values") and _computes(plan, made.final, hook):
        return found  # what it computes goes nowhere
    plain = library_hook(plan.module, hook.call)
    if plain is None or plain.short in [each.short for each in found.hooks]:
        return _UNSEEN
    return replace(found, hooks=(*found.hooks, plain))


def _computes(plan: Plan, node: ast.expr, hook: SpecHook) -> bool:
    """Whether running an expression does nothing but to compute a value."""
    parts = [node, *(plan.followed_in(part, hook.at, "train")[0] for part in walk(node) if isinstance(part, ast.expr))]
    calls = (call.func for part in parts if part is not None for call in walk(part) if isinstance(call, ast.Call))
    names = [plan.module.resolve(function) or "" for function in calls]
    return all(name.startswith("tensorflow.") and not any(word in name for word in _ACTING) for name in names)


def _is_read(plan: Plan, name: str) -> bool:
    """Whether a program reads an attribute."""
    return any(node.attr == name for node in plan.module.nodes(ast.Attribute))

"""Hooks of a training for which Keras has a callback or an argument."""

from __future__ import annotations

import ast
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Union

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.function.translate import bind, is_none
from migrator.analyse.results.stepvalues import StepValues
from migrator.resolve.module import Module
from migrator.resolve.project import Project
from migrator.resolve.reasons import reason_at
from migrator.resolve.text import Spans

from ..hooks.hooks import HOOKS, LOGGING, SAVING, hook_of
from ..loop.data.datasets import Reader
from ..loop.page import Page
from ..loop.places import has_its_line, moves
from ..loop.settings import Settings, is_same
from ..program.unused_code import unused_spans
from .callback_classes import OwnHook, own_hook_of
from .early_stops import EarlyStop, early_stop_of, stops_early
from .elements import Condition, Element, elements_of
from .evaluators import Asked, Evaluator, given_of, takes_estimator
from .logged_values import Logged, logged_of_call
from .savers import Saver, saver_of

_NAN = "NanTensorHook"
STOP, _COUNTER, _PROFILER, _WAITER = "StopAtStepHook", "StepCounterHook", "ProfilerHook", "GlobalStepWaiterHook"
_SIGNATURES = {name: HOOKS[name].signature for name in (STOP, _COUNTER, _PROFILER, _WAITER)}
_SIGNATURES[_NAN] = "loss_tensor fail_on_nan_loss"
_WRITTEN = {
    STOP: {"num_steps", "last_step"},
    _COUNTER: {"every_n_steps", "output_dir"},
    _PROFILER: {"save_steps", "output_dir"},
    _NAN: {"loss_tensor", "fail_on_nan_loss"},
    _WAITER: {"wait_until_step"},
}
_IDLE = frozenset({_NAN, _WAITER})
"""Hooks whose arguments nothing is written with."""
_UNSEEN = "hooks"
_LISTENERS = frozenset(f"{family}.CheckpointSaverListener" for family in ("tensorflow.train", "tensorflow.estimator"))


@dataclass(frozen=True)
class Hook:
    """A hook of the library."""

    name: ast.expr
    """The reference to its class."""
    short: str
    arguments: dict[str, ast.expr]


@dataclass(frozen=True)
class Given:
    """Where a training or an evaluation is given hooks."""

    reader: Reader
    module: Module
    call: ast.Call
    estimator: ast.expr
    settings: Settings
    """Those of the Estimator."""
    values: StepValues
    """What its steps have for hooks."""
    params: ast.expr | None = None
    """What it gives to input functions."""
    evaluated: bool = False


Callback = Union[Hook, Logged, OwnHook, EarlyStop, Saver, Evaluator, Asked]


@dataclass(frozen=True)
class Hooks:
    """The hooks of one training."""

    hooks: tuple[Hook, ...] = ()
    logged: tuple[Logged, ...] = ()
    """What others log."""
    own: tuple[OwnHook, ...] = ()
    """Those of classes of the program."""
    stops: tuple[EarlyStop, ...] = ()
    """Those that stop by what evaluations gave."""
    asked: tuple[Asked, ...] = ()
    """Those that stop by what a function says."""
    evaluators: tuple[Evaluator, ...] = ()
    saver: Saver | None = None
    statements: tuple[ast.stmt, ...] = ()
    """What holds them, and goes."""
    limit: dict[str, ast.expr] = field(default_factory=dict)
    """How many steps it has, or the step to which it trains, as an argument of `train`."""
    conditions: tuple[tuple[Callback, Condition], ...] = ()
    """What has to hold for some of them."""
    idle: tuple[EarlyStop, ...] = ()
    """Those of a training that is evaluated at its end alone: they have nothing to stop, and go."""

    def condition(self, callback: Callback) -> Condition | None:
        """What has to hold for one of them."""
        return next((condition for each, condition in self.conditions if each is callback), None)

    @property
    def without_stops(self) -> Hooks:
        """These, where nothing is evaluated before the end."""
        kept = tuple(pair for pair in self.conditions if pair[0] not in self.stops)
        return replace(self, stops=(), idle=self.stops, conditions=kept)

    def and_those(self, other: Hooks) -> Hooks:
        """These, and hooks of evaluations."""
        told = {name: getattr(self, name) + getattr(other, name) for name in ("own", "statements")}
        return replace(self, **told)

    def and_of_model(self, hooks: tuple[Hook, ...]) -> Hooks | str:
        """These, and hooks of the library that a model_fn has."""
        more = tuple(hook for hook in hooks if hook.short != STOP)
        if {hook.short for hook in more} & {hook.short for hook in self.hooks}:
            return "two hooks of one kind"
        return replace(self, hooks=(*self.hooks, *more))

    @property
    def estimators(self) -> tuple[ast.expr, ...]:
        """The places where they name the Estimator."""
        told: list[EarlyStop | Asked | Evaluator] = [*self.stops, *self.idle, *self.asked, *self.evaluators]
        return tuple(each.estimator for each in told)

    @property
    def names(self) -> tuple[ast.expr, ...]:
        """References to names of the library that go."""
        logging = (line.at.func for line in self.logged if isinstance(line.at, ast.Call))
        told: list[Hook | EarlyStop | Asked | Evaluator]
        told = [*self.hooks, *self.stops, *self.idle, *self.asked, *self.evaluators]
        return (*(each.name for each in told), *logging, *(self.saver.names if self.saver is not None else ()))

    @property
    def single(self) -> bool:
        """Whether callbacks wait for each step."""
        told = (
            self.own or self.asked or self.evaluators or (self.saver is not None and self.saver.listeners is not None)
        )
        return bool(told) or any(hook.short in (_COUNTER, _PROFILER) for hook in self.hooks)

    @property
    def waits(self) -> bool:
        """Whether one of them waits for the steps of others."""
        waiters = (hook for hook in self.hooks if hook.short == _WAITER)
        return any(getattr(hook.arguments.get("wait_until_step"), "value", None) != 0 for hook in waiters)

    @property
    def profiles(self) -> bool:
        """Whether one of them writes profiles."""
        return any(hook.short == _PROFILER for hook in self.hooks)

    @property
    def parts(self) -> tuple[ast.expr, ...]:
        """Expressions that are written elsewhere."""
        several: list[Logged | EarlyStop | Asked | Evaluator]
        several = [*self.logged, *self.stops, *self.asked, *self.evaluators]
        return (
            *(value for hook in self.hooks if hook.short not in _IDLE for value in hook.arguments.values()),
            *(part for each in several for part in each.parts),
            *(self.saver.parts if self.saver is not None else ()),
            *(own.node for own in self.own if own.held is None),
            *(condition.node for _, condition in self.conditions),
        )

    @property
    def terminates(self) -> bool:
        """Whether one of them ends a training whose loss is not a number."""
        return any(hook.short == _NAN for hook in self.hooks)

    @property
    def boards(self) -> list[Hook]:
        """Those that write to a folder what TensorBoard shows."""
        return [hook for hook in self.hooks if hook.short in (_COUNTER, _PROFILER) and "output_dir" in hook.arguments]

    def options(self, page: Page) -> list[str]:
        """The arguments of `TensorBoard` that ask for what they wrote."""
        found = ["write_steps_per_second=True" for hook in self.boards if hook.short == _COUNTER]
        return found + [
            f"profile_batch={page.text(hook.arguments['save_steps'])}"
            for hook in self.boards
            if hook.short == _PROFILER
        ]

    def board(self, page: Page, tensorboard: str) -> list[str]:
        """The callback for them where nothing else is shown: two of these would be in each other's way."""
        for hook in self.boards:
            folder, every = page.text(hook.arguments["output_dir"]), hook.arguments.get("every_n_steps")
            often = [f"update_freq={page.text(every) if every is not None else 100}"] if hook.short == _COUNTER else []
            return [f"{tensorboard}({', '.join([folder, *often, *self.options(page)])})"]
        return []


def hooks_of(given: Given, node: ast.expr) -> Hooks | str:
    """The hooks that a training or an evaluation is given by `node`, or why they are not understood."""
    module, call = given.module, given.call
    statements: list[ast.stmt] = []
    elements = elements_of(module, node, statements)
    if elements is None:
        return _kept(given, node) or _UNSEEN
    found: list[tuple[Element, Callback]] = []
    for element in elements:
        own = own_hook_of(given.reader.project, module, element.node, given.values, given.evaluated)
        each = own or _seen(given, _held(module, element.node, call, statements))
        if isinstance(each, str):
            return reason_at(each, module, element.node)
        found.append((element, each))
    callbacks = [each for _, each in found]
    for line in callbacks:
        if isinstance(line, Logged) and line.tensors is not None:
            _held(module, line.tensors, call, statements)
    if given.evaluated and not all(isinstance(each, OwnHook) for each in callbacks):
        return "hooks of an evaluation"
    estimators = [e.estimator for e in callbacks if isinstance(e, (Asked, Evaluator))]
    if any(ast.dump(estimator) != ast.dump(given.estimator) for estimator in estimators):
        return "a hook with another Estimator"
    conditions = tuple((each, element.condition) for element, each in found if element.condition is not None)
    if (
        conditions
        and given.evaluated
        or not all(isinstance(each, (Logged, OwnHook, Asked, Evaluator)) for each, _ in conditions)
    ):
        return "hooks under a condition"
    result = _sorted(callbacks, tuple(statements), conditions)
    if isinstance(result, Hooks) and len(result.boards) > 1 and given.settings.directory is None:
        return _UNSEEN
    above = all(module.span(statement) < module.span(call) for statement in statements)
    if isinstance(result, Hooks) and not (above and all(_moves(module, line, call, result) for line in statements)):
        return _kept(given, node) or "hooks that are made elsewhere"
    return result


def limit_of(stop: Hook) -> dict[str, ast.expr]:
    """What a StopAtStepHook says, as arguments of `train`."""
    return {{"num_steps": "steps", "last_step": "max_steps"}[name]: value for name, value in stop.arguments.items()}


def _sorted(
    callbacks: Sequence[Callback],
    statements: tuple[ast.stmt, ...],
    conditions: tuple[tuple[Callback, Condition], ...],
) -> Hooks | str:
    """Callbacks by kind."""
    hooks = tuple(each for each in callbacks if isinstance(each, Hook))
    savers = [each for each in callbacks if isinstance(each, Saver)]
    limits = [limit_of(hook) for hook in hooks if hook.short == STOP]
    if len(limits) > 1 or len(savers) > 1 or len({hook.short for hook in hooks}) < len(hooks):
        return _UNSEEN
    limit = {name: value for each in limits for name, value in each.items()}
    result = Hooks(
        hooks,
        tuple(each for each in callbacks if isinstance(each, Logged)),
        tuple(each for each in callbacks if isinstance(each, OwnHook)),
        tuple(each for each in callbacks if isinstance(each, EarlyStop)),
        tuple(each for each in callbacks if isinstance(each, Asked)),
        tuple(each for each in callbacks if isinstance(each, Evaluator)),
        savers[0] if savers else None,
        statements,
        limit=limit,
        conditions=conditions,
    )
    return result


def _moves(module: Module, statement: ast.stmt, call: ast.Call, hooks: Hooks) -> bool:
    """Whether what a statement holds may be written where a training runs."""
    if moves(module, statement, call, hooks.parts, hooks.statements):
        return True
    outer = module.parent(statement)
    around = outer is not None and (module.is_inside(call, outer) or outer is module.tree)
    same = module.nearest(statement, ast.FunctionDef) is module.nearest(call, ast.FunctionDef)
    return around and same and all(is_same(module, part, call) for part in hooks.parts)


def _kept(given: Given, node: ast.expr) -> Hooks | None:
    """The hooks of a list with a name that stays, where all are of classes of the program; None if something else is in it."""
    module = given.module
    statement = module.assignment(node) if isinstance(node, ast.Name) else None
    if statement is None or not isinstance(node, ast.Name) or not isinstance(statement.value, (ast.List, ast.Tuple)):
        return None
    elements = list(statement.value.elts)
    for load in module.loads_of(node.id, module.scope(node).lookup(node.id)):
        outer = module.parent(load)
        call = module.parent(outer) if isinstance(outer, ast.Attribute) else None
        if isinstance(outer, ast.Attribute) and isinstance(call, ast.Call) and call.func is outer:
            if outer.attr != "append" or len(call.args) != 1:
                return None
            elements.append(call.args[0])
        elif not (isinstance(outer, ast.keyword) and outer.arg == "hooks"):
            return None
    project = given.reader.project
    found = [own_hook_of(project, module, each, given.values, given.evaluated) for each in elements]
    own = [replace(each, held=node) for each in found if isinstance(each, OwnHook)]
    return Hooks(own=tuple(own)) if found and len(own) == len(found) else None


def _held(module: Module, node: ast.expr, call: ast.Call, statements: list[ast.stmt]) -> ast.expr | None:
    """What a name stands for that is read here alone; an expression that is no name itself."""
    if not isinstance(node, ast.Name):
        return node
    statement = module.assignment(node)
    if statement is None or module.loads_of(node.id, module.scope(node).lookup(node.id)) != [node]:
        return None
    if not has_its_line(module, statement):
        return None
    statements.append(statement)
    return statement.value


def _seen(given: Given, node: ast.expr | None) -> Callback | str:
    """What a hook is, or why that is not understood."""
    module = given.module
    name = module.resolve(node.func) if isinstance(node, ast.Call) else None
    if isinstance(node, ast.Call) and hook_of(name) == LOGGING:
        return logged_of_call(given.reader.project, module, node, given.values)
    if isinstance(node, ast.Call) and stops_early(name):
        return early_stop_of(module, node, given.values)
    if isinstance(node, ast.Call) and hook_of(name) == SAVING:
        return saver_of(given.reader.project, module, node, given.settings, given.estimator)
    if isinstance(node, ast.Call) and takes_estimator(name):
        return given_of(module, node, given.reader, given.params)
    return library_hook(module, node) or _UNSEEN


def library_hook(module: Module, node: ast.expr | None) -> Hook | None:
    """One hook of the library."""
    name = module.resolve(node.func) if isinstance(node, ast.Call) else None
    short = _short(name)
    if short is None or not isinstance(node, ast.Call):
        return None
    try:
        given = {name: value for name, value in bind(node, _SIGNATURES[short], short).items() if not is_none(value)}
    except Unsupported:
        return None
    if set(given) - _WRITTEN[short] or (short == _PROFILER and len(given) < 2):
        return None
    if short == _NAN and "loss" not in str(getattr(given.get("loss_tensor"), "value", "")):
        return None  # another tensor of a graph, which no callback sees
    return Hook(node.func, short, given)


def _short(name: str | None) -> str | None:
    """The hook of those above that a qualified name means."""
    short = _NAN if name in ("tensorflow.train.NanTensorHook", "tensorflow.estimator.NanTensorHook") else hook_of(name)
    return short if short in _SIGNATURES else None


def is_known(name: str) -> bool:
    """Whether a qualified name is that of such a hook."""
    known = hook_of(name) in (LOGGING, SAVING) or stops_early(name) or takes_estimator(name)
    return known or _short(name) is not None


def is_listener(name: str) -> bool:
    """Whether a qualified name is the base of listeners of checkpoints, which nothing but lists of hooks knows."""
    return name in _LISTENERS


def of_hooks(
    project: Project, modules: Sequence[Module], inside: Mapping[str, Spans], known: Collection[ast.AST]
) -> str:
    """Why hooks stay, beside those that are understood, and those of code that nothing names."""
    for module in modules:
        spans = Spans([*inside.get(module.path, ()), *unused_spans(project.modules.values(), module)])
        for node, name in module.references():
            if is_known(name) and node not in known and not spans.hold(module.span(node)):
                return reason_at(f"tf.{name.split('.', 1)[1]}", module, node)
    return ""

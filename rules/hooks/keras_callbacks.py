"""Hooks of a training for which Keras has a callback or an argument."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.function.translate import bind, is_none
from migrator.analyse.results.stepvalues import StepValues
from migrator.resolve.module import Module
from migrator.resolve.project import Project
from migrator.resolve.reasons import reason_at
from migrator.resolve.text import Spans

from ..loop.page import Page
from ..loop.places import has_its_line, moves
from .callback_classes import OwnHook, own_hook_of
from .early_stops import EarlyStop, early_stop_of, stops_early
from .hooks import HOOKS, LOGGING, hook_of
from .logged_values import Logged, logged_of_call

_NAN = "NanTensorHook"
_STOP, _COUNTER, _PROFILER = "StopAtStepHook", "StepCounterHook", "ProfilerHook"
_SIGNATURES = {name: HOOKS[name].signature for name in (_STOP, _COUNTER, _PROFILER)}
_SIGNATURES[_NAN] = "loss_tensor fail_on_nan_loss"
_WRITTEN = {
    _STOP: {"num_steps", "last_step"},
    _COUNTER: {"every_n_steps", "output_dir"},
    _PROFILER: {"save_steps", "output_dir"},
    _NAN: {"loss_tensor", "fail_on_nan_loss"},
}
_UNSEEN = "hooks"


@dataclass(frozen=True)
class Hook:
    """A hook of the library."""

    name: ast.expr
    """The reference to its class."""
    short: str
    arguments: dict[str, ast.expr]


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
    statements: tuple[ast.stmt, ...] = ()
    """What holds them, and goes."""
    limit: dict[str, ast.expr] = field(default_factory=dict)
    """How many steps it has, or the step to which it trains, as an argument of `train`."""

    @property
    def names(self) -> tuple[ast.expr, ...]:
        """References to names of the library that go."""
        logging = (line.at.func for line in self.logged if isinstance(line.at, ast.Call))
        return (*(hook.name for hook in self.hooks), *logging, *(stop.name for stop in self.stops))

    @property
    def single(self) -> bool:
        """Whether callbacks wait for each step."""
        return bool(self.own) or any(hook.short in (_COUNTER, _PROFILER) for hook in self.hooks)

    @property
    def profiles(self) -> bool:
        """Whether one of them writes profiles."""
        return any(hook.short == _PROFILER for hook in self.hooks)

    @property
    def parts(self) -> tuple[ast.expr, ...]:
        """Expressions that are written elsewhere."""
        limits = (part for stop in self.stops for part in stop.parts)
        values = (value for hook in self.hooks if hook.short != _NAN for value in hook.arguments.values())
        return (
            *values,
            *(part for line in self.logged for part in line.parts),
            *(own.node for own in self.own),
            *limits,
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


def hooks_of(
    project: Project, module: Module, node: ast.expr, call: ast.Call, values: StepValues, evaluated: bool
) -> Hooks | str:
    """The hooks that a training or an evaluation is given by `node`, or why they are not understood; `call` is where it runs,
    `values` are what its steps have for them."""
    statements: list[ast.stmt] = []
    elements = elements_of(module, node, call, statements)
    if elements is None:
        return _UNSEEN
    found: list[Hook | Logged | OwnHook | EarlyStop | str] = []
    for element in elements:
        own = own_hook_of(project, module, element, values, evaluated)
        found.append(own or _seen(module, _held(module, element, call, statements), values))
    for line in found:
        if isinstance(line, Logged) and line.tensors is not None:
            _held(module, line.tensors, call, statements)
    for element, each in zip(elements, found):
        if isinstance(each, str):
            return reason_at(each, module, element)
    hooks = [hook for hook in found if isinstance(hook, Hook)]
    logged = tuple(line for line in found if isinstance(line, Logged))
    own_hooks = tuple(own for own in found if isinstance(own, OwnHook))
    if evaluated and len(own_hooks) < len(found):
        return "`hooks` of evaluate"
    limits = [hook.arguments for hook in hooks if hook.short == _STOP]
    if len(limits) > 1:
        return _UNSEEN
    limit = {{"num_steps": "steps", "last_step": "max_steps"}[n]: v for each in limits for n, v in each.items()}
    stops = tuple(stop for stop in found if isinstance(stop, EarlyStop))
    result = Hooks(tuple(hooks), logged, own_hooks, stops, tuple(statements), limit)
    if len({hook.short for hook in hooks}) < len(hooks) or len(result.boards) > 1:
        return _UNSEEN
    above = all(module.span(statement) < module.span(call) for statement in statements)
    if not above or not all(moves(module, statement, call, result.parts) for statement in statements):
        return "hooks that are made elsewhere"
    return result


def elements_of(module: Module, node: ast.expr, call: ast.Call, statements: list[ast.stmt]) -> list[ast.expr] | None:
    """The elements of a list that is written, or of one with a name to which calls of `append` above add more."""
    held = module.assignment(node) if isinstance(node, ast.Name) else None
    made = node if held is None else held.value
    if not isinstance(made, (ast.List, ast.Tuple)):
        return None
    if not isinstance(node, ast.Name) or held is None:
        return list(made.elts)
    found = list(made.elts)
    lines: list[ast.stmt] = [held]
    for load in module.loads_of(node.id, module.scope(node).lookup(node.id)):
        if load is node:
            continue
        statement = module.statement(load)
        added = statement.value if isinstance(statement, ast.Expr) else None
        method = module.parent(load)
        plain = isinstance(added, ast.Call) and added.func is method and len(added.args) == 1 and not added.keywords
        if not plain or not isinstance(method, ast.Attribute) or method.attr != "append":
            return None
        assert isinstance(added, ast.Call)
        found.append(added.args[0])
        lines.append(statement)
    if not all(has_its_line(module, line) for line in lines):
        return None
    statements += lines
    return found


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


def _seen(module: Module, node: ast.expr | None, values: StepValues) -> Hook | Logged | EarlyStop | str:
    """What a hook is, or why that is not understood."""
    if isinstance(node, ast.Call) and hook_of(module.resolve(node.func)) == LOGGING:
        return logged_of_call(module, node, values)
    if isinstance(node, ast.Call) and stops_early(module.resolve(node.func)):
        return early_stop_of(module, node, values)
    return _hook(module, node) or _UNSEEN


def _hook(module: Module, node: ast.expr | None) -> Hook | None:
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
    return _short(name) is not None or hook_of(name) == LOGGING or stops_early(name)


def of_hooks(modules: Sequence[Module], inside: Mapping[str, Spans], known: set[ast.expr]) -> str:
    """Why hooks stay, beside those that are understood."""
    for module in modules:
        spans = inside.get(module.path, Spans())
        for node, name in module.references():
            if is_known(name) and node not in known and not spans.hold(module.span(node)):
                return reason_at(f"tf.{name.split('.', 1)[1]}", module, node)
    return ""

"""Hooks of classes of a program that can be callbacks of Keras, and what these read."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.results.stepvalues import LOSS, MANY, METRIC, TENSOR, StepValue, StepValues
from migrator.resolve.calls import arguments
from migrator.resolve.module import Module
from migrator.resolve.project import Project
from migrator.resolve.syntax import walk

from ..hooks.logged_names import assigned_value
from ..hooks.session_hooks import SessionHook, hook_class
from .logged_values import log_key, reading

if TYPE_CHECKING:
    from migrator.analyse.function.plan import Plan

BATCH_LOSS = "batch_loss"
"""The key of the loss of one batch: `loss` is the mean of several."""
_OF_KERAS = frozenset({"model", "params", "validation_data", "set_model", "set_params"})
"""Attributes that a callback has of itself."""
MOMENTS = {
    "begin": ("on_{}_begin", "self, logs=None"),
    "before_run": ("on_{}_batch_begin", "self, batch, logs=None"),
    "after_run": ("on_{}_batch_end", "self, batch, logs=None"),
    "end": ("on_{}_end", "self, logs=None"),
}
_GIVEN = frozenset({"batch", "logs"})
"""Parameters that those have."""
CREATED = "after_create_session"


@dataclass(frozen=True)
class OwnHook:
    """A hook of a class of the program, which becomes a callback."""

    node: ast.expr
    """What stands for it in the list of hooks."""
    made: ast.Call
    hook: SessionHook
    evaluated: bool
    """Whether it is for evaluations."""
    readings: Mapping[str, str]
    """How a callback reads what is fetched by a name."""
    wanted: tuple[tuple[str, StepValue], ...]
    """Tensors that the model hands out for it, by their keys."""
    instead: tuple[tuple[ast.expr, str], ...] = ()
    """Tensors that it is made from, and the keys that it gets in their places."""
    held: ast.expr | None = None
    """The name of the list that has it, and stays."""
    gathered: Mapping[str, bool] = field(default_factory=dict)
    """Parameters that get several tensors: whether in a dict, or in a list."""

    @property
    def arguments(self) -> tuple[ast.expr, ...]:
        """What it is made from, beside tensors."""
        tensors = [node for node, _ in self.instead]
        given = (*self.made.args, *(keyword.value for keyword in self.made.keywords))
        return tuple(p for value in given for p in _parts(value) if p not in tensors)

    @property
    def averaged(self) -> list[str]:
        """Keys of what it reads that are means of an epoch."""
        keys = [text[1:-1] for _, text in self.instead]
        keys += [text[6:-2] for text in self.readings.values() if text.startswith("logs[")]
        return [key for key in dict.fromkeys(keys) if key not in dict(self.wanted)]

    @property
    def reads(self) -> tuple[object, ...]:
        """All that the class of the callback is written with: one class serves its hooks only if it is the same for all."""
        hook = self.hook
        fetched = (hook.tensors, hook.looked_up, hook.step_attributes, self.fetched)
        return dict(self.readings), set(hook.names), dict(self.gathered), *fetched

    @property
    def fetched(self) -> ast.expr | None:
        """What it asks for before each step."""
        method = self.hook.methods.get("before_run")
        returned = [n for n in walk(method) if isinstance(n, ast.Return)] if method is not None else []
        value = returned[0].value if returned else None
        if not isinstance(value, ast.Call):
            return None
        return value.args[0] if value.args else value.keywords[0].value


def own_hook_of(
    project: Project, module: Module, node: ast.expr | None, values: StepValues, evaluated: bool
) -> OwnHook | str | None:
    """The hook of a class of the program that an expression stands for, or why it is not understood; None if it is none."""
    made = assigned_value(module, node)
    found = hook_class(project, module, made)
    if node is None or found is None or not isinstance(found.node, ast.ClassDef) or not isinstance(made, ast.Call):
        return None
    hook = SessionHook(found.module, found.node, made=made, sees_names=True, reads_session=True, project=project)
    return _understood(OwnHook(node, made, hook, evaluated, {}, ()), values)


def own_hook_of_spec(
    plan: Plan,
    made: ast.Call,
    tensors: Mapping[str, ast.expr],
    given: Mapping[str, StepValue | None],
    values: StepValues,
    evaluated: bool,
) -> OwnHook | str:
    """That of an EstimatorSpec, made from `tensors`, of which `given` is known; both by their parameters."""
    project = plan.sublayers.project
    found = hook_class(project, plan.module, made, logs=False)
    assert found is not None and isinstance(found.node, ast.ClassDef)
    hook = SessionHook(
        found.module, found.node, given_tensors=True, sees_names=True, reads_session=True, project=project
    )
    instead, wanted = [], []
    for name, value in given.items():
        if value is None or value.kind not in (LOSS, TENSOR, METRIC) or evaluated:
            return "a tensor that a hook of its model_fn reads"
        key = _key(name, value, values)
        instead.append((tensors[name], f'"{key}"'))
        wanted += [(key, replace(value, kind=TENSOR))] if value.kind != METRIC else []
    own = OwnHook(made, made, hook, evaluated, {}, tuple(wanted), tuple(instead), gathered=_gathered(found.node, made))
    return _understood(own, values)


def _parts(value: ast.expr) -> Sequence[ast.expr]:
    """An expression, or the values in a dict or a list that it writes."""
    if isinstance(value, ast.Dict):
        return value.values
    return value.elts if isinstance(value, (ast.List, ast.Tuple)) else [value]


def _gathered(definition: ast.ClassDef, made: ast.Call) -> dict[str, bool]:
    """The parameters that a call gives a dict or a list, with whether it is a dict."""
    init = next((n for n in definition.body if isinstance(n, ast.FunctionDef) and n.name == "__init__"), None)
    names = [argument.arg for argument in init.args.args[1:]] if init is not None else []
    given = [*zip(names, made.args), *((keyword.arg, keyword.value) for keyword in made.keywords)]
    kinds = (ast.Dict, ast.List, ast.Tuple)
    return {str(name): isinstance(value, ast.Dict) for name, value in given if isinstance(value, kinds)}


def of_own_hooks(project: Project, hooks: Collection[OwnHook]) -> str:
    """Why classes of hooks cannot be those of callbacks: something else uses them."""
    made = {own.made.func for own in hooks}
    by_class: dict[ast.ClassDef, list[OwnHook]] = {}
    for own in hooks:
        by_class.setdefault(own.hook.definition, []).append(own)
    for first, *others in by_class.values():
        hook, module = first.hook, first.hook.module
        if any(other.reads != first.reads for other in others):
            return "a class of hooks that read differently"
        scope = module.scope(module.parent(hook.definition) or module.tree)
        inside = set(walk(hook.definition))
        for _, node in project.readers.of(module, scope, hook.definition.name):
            if node not in made and node not in inside:
                return "a class of hooks that is used elsewhere"
        if any(_calls(other, hook.methods) for other in project.modules.values()):
            return "a hook whose methods are called elsewhere"
    return ""


def _calls(module: Module, methods: Mapping[str, ast.FunctionDef]) -> bool:
    """Whether a file may call a method that has another name in a callback; a match has an ``end()`` too, given nothing."""
    for node in module.nodes(ast.Attribute):
        call, method = module.parent(node), methods.get(node.attr)
        if method is None or method.name not in (*MOMENTS, CREATED):
            continue
        if not isinstance(call, ast.Call) or call.func is not node:
            return True
        if len(arguments(call)) >= len(method.args.args) - 1:
            return True
    return False


def _key(name: str, value: StepValue, values: StepValues) -> str:
    """The key of a tensor among the logs; that of the loss of one batch is another one than that of its mean."""
    return BATCH_LOSS if value.kind == LOSS else log_key(name, value, values)


def _understood(own: OwnHook, values: StepValues) -> OwnHook | str:
    hook = own.hook
    try:
        hook.check(own.evaluated)
        _check(hook)
    except Unsupported as problem:
        return problem.reason
    readings, wanted = {}, list(own.wanted)
    for name in hook.names:
        value = values.named.get(name)
        if value is None or value.kind == MANY:
            return "a tensor that a hook reads by its name"
        key = _key(name, value, values)
        if value.kind in (LOSS, TENSOR):
            value = replace(value, kind=TENSOR)
            wanted.append((key, value))
        readings[name] = reading(key, value).format(model="self.model")
    return replace(own, readings=readings, wanted=tuple(wanted))


def _check(hook: SessionHook) -> None:
    """Refuse what the class of a callback cannot have, or what is not written anew."""
    definition = hook.definition
    if hook.logs:
        raise Unsupported("a class derived from LoggingTensorHook", definition)
    if any(name.startswith("on_") for name in hook.methods):
        raise Unsupported("a hook with methods that callbacks have", definition)
    for node in walk(definition):
        own = isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self"
        if isinstance(node, ast.Attribute) and own and node.attr in {*_OF_KERAS, *MOMENTS, CREATED}:
            raise Unsupported("a hook with attributes that callbacks have", node)
    for method in hook.methods.values():
        if method.name in (*MOMENTS, CREATED) and _GIVEN & set(_spelled(method)):
            raise Unsupported("a hook with names that parameters of callbacks have", method)
        if method.name in (*MOMENTS, CREATED, "__init__") and any(hook.module.indent(n) is None for n in method.body):
            raise Unsupported("a method of a hook with several statements in a line", method)
    begin = hook.methods.get("begin")
    if begin is not None and CREATED in hook.methods and any(isinstance(n, ast.Return) for n in walk(begin)):
        raise Unsupported("a hook whose `begin` returns before `after_create_session`", begin)
    if set(hook.methods) <= {"before_run"}:
        raise Unsupported("a hook that does nothing", definition)
    before = hook.methods.get("before_run")
    returned = [node for node in walk(before) if isinstance(node, ast.Return)] if before is not None else []
    if before is not None and returned and (len(returned) > 1 or before.body[-1] is not returned[0]):
        raise Unsupported("a hook that does not always ask for the same", before)
    for name in ("before_run", "after_run"):
        part = hook.methods.get(name)
        for node in walk(part) if part is not None else ():
            if isinstance(node, ast.Attribute) and node.attr == "request_stop":
                call = hook.module.parent(node)
                if not isinstance(call, ast.Call) or not isinstance(hook.module.parent(call), ast.Expr):
                    raise Unsupported("a hook that stops in this way", node)
            if isinstance(node, ast.Return) and name == "after_run" and node.value is not None:
                raise Unsupported("a hook whose `after_run` returns something", node)


def _spelled(method: ast.FunctionDef) -> Iterator[str]:
    """All names that a method reads or binds."""
    for node in walk(method):
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.alias):
            yield (node.asname or node.name).partition(".")[0]
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.ExceptHandler)) and node.name is not None:
            yield node.name
        elif isinstance(node, (ast.Global, ast.Nonlocal)):
            yield from node.names

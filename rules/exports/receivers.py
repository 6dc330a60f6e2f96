"""What a SavedModel is fed: features as they are, or examples to parse, as arguments of `tf.function`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.function.translate import bind, is_none
from migrator.resolve.module import Module
from migrator.resolve.project import Project
from migrator.resolve.syntax import walk

from ..estimator_calls.estimator_values import PREFIX
from ..loop.places import has_its_line, moves

_RECEIVER = PREFIX + "export.ServingInputReceiver"
_RAW = PREFIX + "export.build_raw_serving_input_receiver_fn"
_PARSING = PREFIX + "export.build_parsing_serving_input_receiver_fn"
NAMES = frozenset({_RECEIVER, _RAW, _PARSING})
_PLACEHOLDER = "tensorflow.placeholder"
_UNSEEN = "what a SavedModel is fed is not understood"


@dataclass(frozen=True)
class Fed:
    """A placeholder that becomes a parameter."""

    statement: ast.Assign
    name: str
    key: str
    """The text of its name as an input."""
    shape: ast.expr
    dtype: ast.expr


@dataclass(frozen=True)
class Computed:
    """A function that computes features of placeholders."""

    function: ast.FunctionDef
    parameters: tuple[Fed, ...]


@dataclass(frozen=True)
class Receiver:
    """What is fed."""

    given: ast.expr
    """The argument of the method that exports: a function, or the call that makes it."""
    names: tuple[ast.expr, ...]
    """References to names of the library that go."""
    parsed: ast.expr | None = None
    """The features of serialized examples."""
    statement: ast.Assign | None = None
    """What holds the function that is made of them, and goes."""
    returned: tuple[ast.expr, ast.expr] | None = None
    """What a function of the program returns, and the features in it."""
    fed: tuple[tuple[ast.Call, str], ...] = ()
    """The placeholders of that function, each with the text of its name as an input."""
    computed: Computed | None = None
    """How a function of the program computes the features, if it does not return what it is fed."""
    text: bool = False
    """Whether one string is fed, so that heads serve what classifies, too."""

    @property
    def placeholders(self) -> list[ast.expr]:
        """The calls that made what is fed."""
        held = self.computed.parameters if self.computed is not None else ()
        return [*(call for call, _ in self.fed), *(each.statement.value for each in held)]


def receiver_of(project: Project, module: Module, node: ast.expr, call: ast.Call) -> Receiver | str:
    """What the SavedModel of an export is fed, or why that is not understood."""
    statement = module.assignment(node) if isinstance(node, ast.Name) else None
    made = statement.value if statement is not None else node
    if isinstance(made, ast.Call) and module.resolve(made.func) == _PARSING:
        given = _bound(made, "feature_spec default_batch_size")
        if given is None or not is_none(given.get("default_batch_size")) or "feature_spec" not in given:
            return _UNSEEN
        if statement is not None and not _goes(module, statement, node, call, given["feature_spec"]):
            return _UNSEEN
        return Receiver(node, (made.func,), given["feature_spec"], statement, text=True)
    found = project.definition(module, node)
    if found is None or found.module is not module or not isinstance(found.node, ast.FunctionDef):
        return _UNSEEN
    return _function(module, node, found.node) or _UNSEEN


def _bound(call: ast.Call, signature: str) -> dict[str, ast.expr] | None:
    try:
        return bind(call, signature, "a receiver")
    except Unsupported:
        return None


def _goes(module: Module, statement: ast.Assign, node: ast.expr, call: ast.Call, value: ast.expr) -> bool:
    """Whether a statement may be written where its name is read."""
    assert isinstance(node, ast.Name)
    alone = module.loads_of(node.id, module.scope(node).lookup(node.id)) == [node]
    return alone and has_its_line(module, statement) and moves(module, statement, call, [value])


def _function(module: Module, node: ast.expr, function: ast.FunctionDef) -> Receiver | None:
    """A function of the program that makes placeholders and returns them as features, as they are."""
    args = function.args
    returns = [part for part in walk(function) if isinstance(part, ast.Return)]
    inner = [p for p in walk(function) if isinstance(p, (ast.FunctionDef, ast.Lambda)) and p is not function]
    if inner or function.decorator_list or len(returns) != 1 or returns[0] is not function.body[-1]:
        return None
    if args.args or args.kwonlyargs or args.vararg or args.kwarg or returns[0].value is None:
        return None
    held = [n for n, _ in _reads(module, function)]
    if held != [node]:
        return None
    found = _features(module, returns[0].value)
    if found is None:
        return _computed(module, node, function, returns[0].value)
    names, features = found
    fed = _fed(module, function, features, module.resolve(names[0]) == _RAW)
    if fed is None or not _is_read_in(module, features, returns[0]):
        return None
    dtype = _bound(fed[0][0], "dtype shape name") if len(fed) == 1 else None
    alone = isinstance(module.parent(fed[0][0]), (ast.Dict, ast.Assign)) and dtype is not None
    text = alone and dtype is not None and module.resolve(dtype["dtype"]) == "tensorflow.string"
    return Receiver(node, names, returned=(returns[0].value, features), fed=tuple(fed), text=text)


def _reads(module: Module, function: ast.FunctionDef) -> Iterator[tuple[ast.Name, ast.AST | None]]:
    """All places that read a function of a file by its name."""
    scope = module.scope(module.parent(function) or module.tree)
    for load in module.loads_of(function.name, scope.holder(function.name)):
        yield load, module.parent(load)


def _features(module: Module, value: ast.expr) -> tuple[tuple[ast.expr, ...], ast.expr] | None:
    """The names of the library in what a function returns, and the features that are fed as they are."""
    if isinstance(value, ast.Call) and not value.args and not value.keywords and isinstance(value.func, ast.Call):
        made = value.func
        given = _bound(made, "features default_batch_size") if module.resolve(made.func) == _RAW else None
        if given is None or set(given) != {"features"}:
            return None
        return (made.func,), given["features"]
    given = None
    if isinstance(value, ast.Call) and module.resolve(value.func) == _RECEIVER:
        given = _bound(value, "features receiver_tensors")
    if given is None or set(given) != {"features", "receiver_tensors"}:
        return None
    features = given["features"]
    same = ast.dump(features) == ast.dump(given["receiver_tensors"]) and isinstance(features, ast.Name)
    assert isinstance(value, ast.Call)
    return ((value.func,), features) if same else None


def _fed(module: Module, function: ast.FunctionDef, features: ast.expr, raw: bool) -> list[tuple[ast.Call, str]] | None:
    """All placeholders of a function, if each of them is an entry of its dict of features."""
    statement = module.assignment(features)
    made = statement.value if statement is not None else features
    found: list[tuple[ast.Call, str]] = []
    if isinstance(made, ast.DictComp):
        entries = [(made.key, made.value)]
    elif isinstance(made, ast.Dict):
        entries = [(key, value) for key, value in zip(made.keys, made.values) if key is not None]
        if len(entries) != len(made.values):
            return None
    else:
        return None
    for key, value in entries:
        held = module.assignment(value)
        call = held.value if held is not None else value
        if not isinstance(call, ast.Call) or module.resolve(call.func) != _PLACEHOLDER:
            return None
        given = _bound(call, "dtype shape name") or {}
        if not given.keys() >= {"dtype", "shape"} or (raw and not _is_batch(given["shape"])):
            return None
        if held is not None and isinstance(value, ast.Name) and len(_loads(module, value)) != 1:
            return None
        found.append((call, module.segment(key)))
    every = {
        part for part in walk(function) if isinstance(part, ast.Call) and module.resolve(part.func) == _PLACEHOLDER
    }
    return found if found and every == {call for call, _ in found} else None


def _is_read_in(module: Module, name: ast.expr, statement: ast.stmt) -> bool:
    """Whether a name, if it is one, is read in one statement alone."""
    return not isinstance(name, ast.Name) or all(module.is_inside(load, statement) for load in _loads(module, name))


def _computed(module: Module, node: ast.expr, function: ast.FunctionDef, value: ast.expr) -> Receiver | None:
    """A function of the program that computes features of placeholders, which become its parameters."""
    made = isinstance(value, ast.Call) and module.resolve(value.func) == _RECEIVER
    given = _bound(value, "features receiver_tensors") if made and isinstance(value, ast.Call) else None
    if given is None or set(given) != {"features", "receiver_tensors"} or not _is_dict(module, given["features"]):
        return None
    tensors = given["receiver_tensors"]
    if isinstance(tensors, ast.Dict):
        entries = [(module.segment(key), item) for key, item in zip(tensors.keys, tensors.values) if key is not None]
    else:
        entries = [('"input"', tensors)]
    fed = [_parameter(module, key, item) for key, item in entries]
    parameters = tuple(each for each in fed if each is not None)
    every = [p for p in walk(function) if isinstance(p, ast.Call) and module.resolve(p.func) == _PLACEHOLDER]
    held = {each.statement for each in parameters} & set(function.body)
    if not parameters or len(parameters) < len(fed) or len(held) < len(fed) or len(every) != len(fed):
        return None
    assert isinstance(value, ast.Call)
    text = len(fed) == 1 and module.resolve(parameters[0].dtype) == "tensorflow.string"
    computed = Computed(function, parameters)
    return Receiver(node, (value.func,), returned=(value, given["features"]), computed=computed, text=text)


def _parameter(module: Module, key: str, node: ast.expr) -> Fed | None:
    """What a placeholder that a name holds becomes."""
    statement = module.assignment(node)
    call = statement.value if statement is not None else None
    if not isinstance(call, ast.Call) or module.resolve(call.func) != _PLACEHOLDER or statement is None:
        return None
    given = _bound(call, "dtype shape name") or {}
    if not given.keys() >= {"dtype", "shape"} or not has_its_line(module, statement):
        return None
    names = [n for part in ("dtype", "shape") for n in walk(given[part]) if isinstance(n, ast.Name)]
    scopes = [module.scope(name).lookup(name.id) for name in names]
    if any(scope is None or scope.kind != "module" for scope in scopes) or not isinstance(node, ast.Name):
        return None
    return Fed(statement, node.id, key, given["shape"], given["dtype"])


def _is_dict(module: Module, node: ast.expr) -> bool:
    """Whether features are seen to be a dict."""
    statement = module.assignment(node)
    made = statement.value if statement is not None else node
    name = module.resolve(made.func) if isinstance(made, ast.Call) else None
    return isinstance(made, (ast.Dict, ast.DictComp)) or (name or "").endswith(".parse_example")


def _is_batch(shape: ast.expr) -> bool:
    """Whether the first of some dimensions is open, as `build_raw_serving_input_receiver_fn` makes it."""
    first = shape.elts[0] if isinstance(shape, (ast.List, ast.Tuple)) and shape.elts else None
    return first is not None and is_none(first)


def _loads(module: Module, name: ast.Name) -> list[ast.Name]:
    return module.loads_of(name.id, module.scope(name).lookup(name.id))

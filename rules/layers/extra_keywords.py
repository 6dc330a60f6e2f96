"""``**kwargs`` of a helper, which names what it gets, and ``*sizes``, which it gets as a tuple.

Where not all calls give the same keywords, those that only layers of `tf.layers` get have the values there that these have.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Optional

from migrator import rewrite
from migrator.normalise.desugaring import Desugaring
from migrator.normalise.draft.arguments import parameters
from migrator.normalise.draft.draft import Change, Drafts
from migrator.resolve.calls import arguments
from migrator.resolve.module import Module
from migrator.resolve.project import Definition, Project
from migrator.resolve.syntax import place_of, target_name, walk
from migrator.rewrite import Remove, Replace, code, with_arguments, with_parameters

from .layers import LAYERS

_DEFAULTS = {
    "activation": "None", "use_bias": "True", "padding": '"valid"', "trainable": "True", "strides": "1",
    "kernel_initializer": "None", "kernel_regularizer": "None", "kernel_constraint": "None", "bias_regularizer": "None",
    "bias_constraint": "None", "activity_regularizer": "None",
}  # fmt: skip
"""What layers of `tf.layers` have where they are not told, by parameter."""
_DEPTH = 4
_STRIDES = ("tensorflow.layers.conv", "tensorflow.layers.separable_conv")
"""Of these a stride is 1 then."""
Wanted = list[tuple[Module, rewrite.Change]]
_Entry = tuple[str, Optional[str]]
"""A keyword, and the text of what it is where it is not given; None where it has to be."""


@Desugaring
def expand(drafts: Drafts, module: Module, call: ast.Call) -> list[Change]:
    """The changes for the function that a call calls, or the class that it makes an object of; none where it is something else.

    ```python
    import tensorflow as tf


    def block(x, units, **kwargs):
        return tf.layers.dense(x, units, **kwargs)


    def network(x):
        return block(x, 8, activation=tf.nn.relu)
    ```
    becomes
    ```python
    import tensorflow as tf


    def block(x, units, activation):
        return tf.layers.dense(x, units, activation=activation)


    def network(x):
        return block(x, 8, activation=tf.nn.relu)
    ```
    """
    project = drafts.project
    found = project.definition(module, call.func)
    if found is None or found.module.path not in project.editable:
        return []
    if isinstance(found.node, ast.ClassDef):
        return Change.every(_of_class(project, found))
    assert isinstance(found.node, ast.FunctionDef)
    gathers = found.node.args.vararg is not None or found.node.args.kwarg is not None
    if not gathers or not makes_layers(project, found.module, found.node):
        return []
    return Change.every(_of_function(project, found) or _with_a_tuple(project, found))


def makes_layers(
    project: Project,
    module: Module,
    node: ast.AST,
    is_layer: Callable[[str], bool] = LAYERS.__contains__,
    depth: int = 0,
) -> bool:
    """Whether code makes layers, or those whose names `is_layer` takes, itself or through functions that it calls."""
    for call in walk(node):
        if isinstance(call, ast.Call):
            other = project.definition(module, call.func)
            if other is None and is_layer(module.resolve(call.func) or ""):
                return True
            if isinstance(other.node if other else None, ast.FunctionDef) and other is not None and depth < _DEPTH:
                if makes_layers(project, other.module, other.node, is_layer, depth + 1):
                    return True
    return False


def _with_a_tuple(project: Project, found: Definition) -> Wanted:
    """The changes for a function that gathers places: calls of ``stack(x, *sizes)`` give it a tuple, ``sizes=(64, 32)``."""
    module, function = found.module, found.node
    assert isinstance(function, ast.FunctionDef)
    args = function.args
    if args.vararg is None or args.kwarg is not None or function.decorator_list:
        return []
    if isinstance(module.parent(function), ast.ClassDef) or not (args.posonlyargs or args.args):
        return []
    name, places = args.vararg.arg, len(args.posonlyargs) + len(args.args)
    wanted: Wanted = []
    changed: list[ast.Call] = []
    for where, use in project.readers.of(module, module.scope(module.parent(function) or module.tree), function.name):
        call = where.parent(use)
        if not isinstance(call, ast.Call) or call.func is not use or any(isinstance(a, ast.Starred) for a in call.args):
            return []
        if any(keyword.arg is None for keyword in call.keywords):
            return []
        more = [where.segment(argument) for argument in call.args[places:]]
        if more:
            given = code(f"({', '.join(more)}{',' if len(more) == 1 else ''})")
            new = with_arguments(where.cst.call(call), drop=[*range(places, len(call.args))], add={name: given})
            wanted.append((where, Replace(call, new)))
            changed.append(call)
    if any(one is not other and one in walk(other) for one in changed for other in changed):
        return []
    head = with_parameters(module.cst.statement(function), drop=[name], add=[f"{name}=()"])
    return [(module, Replace(function, head)), *wanted]


def _of_function(project: Project, found: Definition) -> Wanted:
    """The changes for a function all of whose calls give the same keywords beside its parameters."""
    module, function = found.module, found.node
    assert isinstance(function, ast.FunctionDef)
    if function.args.kwarg is None or function.decorator_list or isinstance(module.parent(function), ast.ClassDef):
        return []
    gathered = function.args.kwarg.arg
    around = module.scope(module.parent(function) or module.tree)
    top = module.parent(function) is module.tree
    places = ((where, use) for where in project.modules.values() for use in project.uses(found, where)) if top else ()
    references = [*places] or project.readers.of(module, around, function.name)
    uses = [(where, where.parent(node), node) for where, node in references]
    sets = _given(function, uses)
    if sets is None:
        return next(filter(None, (_of_class(project, owner) for owner in _spreading(uses))), [])
    reads = [n for n in walk(function) if isinstance(n, ast.Name) and n.id == gathered]
    if reads and sets and (asked := _asked(module, function, reads)) is not None:
        return _of_entries(module, function, sets, asked)
    spreads = _spreads(module, reads)
    if not sets or spreads is None:
        return []
    more = sorted(set().union(*sets))
    defaults = {name: _default(module, name, spreads) for name in more if any(name not in each for each in sets)}
    if None in defaults.values() or set(more) & {n.id for n in walk(function) if isinstance(n, ast.Name)}:
        return []
    if any(set(more) & {k.arg for k in each.keywords} for each, _ in spreads):
        return []
    added = [name if name not in defaults else f"{name}={defaults[name]}" for name in more]
    head = with_parameters(module.cst.statement(function), drop=[gathered], add=added, by_keyword=bool(defaults))
    return [(module, Replace(function, head)), *_spelled(module, spreads, more)]


def _spreading(uses: Sequence[tuple[Module, ast.AST | None, ast.expr]]) -> Iterator[Definition]:
    """The classes whose methods spread an attribute in a call, which their constructors may have gathered."""
    for module, call, _ in uses:
        owner = module.nearest(call, ast.ClassDef) if isinstance(call, ast.Call) else None
        spread = [k.value for k in call.keywords if k.arg is None] if isinstance(call, ast.Call) else []
        if isinstance(owner, ast.ClassDef) and any(isinstance(value, ast.Attribute) for value in spread):
            yield Definition(module, owner)


def _asked(module: Module, function: ast.FunctionDef, reads: Sequence[ast.Name]) -> dict[ast.expr, _Entry] | None:
    """The places that take single keywords out of what was gathered, ``kwargs.get("rate", 0.1)``, where nothing else reads it."""
    found: dict[ast.expr, _Entry] = {}
    for read in reads:
        around = module.parent(read)
        call = module.parent(around) if isinstance(around, ast.Attribute) and around.attr in ("get", "pop") else None
        key, default = None, None
        if isinstance(around, ast.Subscript) and isinstance(around.ctx, ast.Load):
            key = around.slice
        elif isinstance(call, ast.Call) and call.func is around and len(call.args) in (1, 2) and not call.keywords:
            key = call.args[0]
            default = module.segment(call.args[1]) if len(call.args) == 2 else "None"
            if len(call.args) == 2 and not _is_fixed(module, function, call.args[1]):
                return None
        if not isinstance(key, ast.Constant) or not isinstance(key.value, str) or not key.value.isidentifier():
            return None
        place = around if isinstance(around, ast.Subscript) else call
        assert isinstance(place, ast.expr)
        found[place] = key.value, default
    return found


def _is_fixed(module: Module, function: ast.FunctionDef, value: ast.expr) -> bool:
    """Whether a default means the same in the head of a function: a literal, or a name of a library."""
    return isinstance(value, ast.Constant) or (module.resolve(value) or "").startswith("tensorflow.")


def _of_entries(
    module: Module, function: ast.FunctionDef, sets: set[tuple[str, ...]], asked: dict[ast.expr, _Entry]
) -> Wanted:
    """The changes for a function that takes keywords one by one: each becomes a parameter."""
    names = sorted({name for name, _ in asked.values()}.union(*sets))
    defaults: dict[str, set[str | None]] = {name: set() for name in names}
    for name, default in asked.values():
        defaults[name].add(default)
    if any(len(known) > 1 for known in defaults.values()):
        return []
    told = {name: next(iter(known), "None") for name, known in defaults.items()}
    if any(told[name] is None and any(name not in each for each in sets) for name in names):
        return []
    own = {name: [n for n in walk(function) if isinstance(n, ast.Name) and n.id == name] for name in names}
    gone: dict[ast.expr, ast.stmt] = {}
    for place, (name, _) in asked.items():
        statement = module.statement(place)
        if target_name(statement) == name and getattr(statement, "value", None) is place:
            gone[place] = statement
    held = {name for name in names if own[name] and not _is_only(own[name], gone.values())}
    if held or set(names) & set(parameters(function)):
        return []
    assert function.args.kwarg is not None
    added = [name if told[name] is None else f"{name}={told[name]}" for name in names]
    head = with_parameters(module.cst.statement(function), drop=[function.args.kwarg.arg], add=added, by_keyword=True)
    changes: Wanted = [(module, Replace(function, head))]
    for place, (name, _) in asked.items():
        changes.append((module, Remove(gone[place]) if place in gone else Replace(place, code(name))))
    return changes


def _is_only(names: list[ast.Name], gone: Collection[ast.stmt]) -> bool:
    """Whether the first of some places of a name gives it the keyword of that name, in a statement that is `gone` then."""
    first = min(names, key=place_of)
    stores = [name for name in names if not isinstance(name.ctx, ast.Load)]
    return first in stores and any(first in getattr(statement, "targets", ()) for statement in gone)


def _default(module: Module, name: str, spreads: Sequence[tuple[ast.Call, ast.keyword]]) -> str | None:
    """What all layers that get a keyword have without it; None where they differ, or are no layers of `tf.layers`."""
    called = [module.resolve(call.func) or "" for call, _ in spreads]
    known = ("tensorflow.layers.",) if name != "strides" else _STRIDES
    return _DEFAULTS.get(name) if called and all(each.startswith(known) for each in called) else None


def _of_class(project: Project, found: Definition) -> Wanted:
    """The changes for a class whose constructor keeps such arguments for the calls of its methods, if no call gives any."""
    module, owner = found.module, found.node
    inits = [each for each in owner.body if isinstance(each, ast.FunctionDef) and each.name == "__init__"]
    init = inits[0] if len(inits) == 1 else None
    if init is None or init.args.kwarg is None or not init.args.args or project.subclasses(found):
        return []
    uses = [(where, where.parent(use), use) for where in project.modules.values() for use in project.uses(found, where)]
    given = _given(init, uses)
    if given is None or given - {()}:
        return []
    gathered, own = init.args.kwarg.arg, init.args.args[0].arg
    read = [n for n in walk(init) if isinstance(n, ast.Name) and n.id == gathered]
    kept = module.parent(read[0]) if len(read) == 1 else None
    target = kept.targets[0] if isinstance(kept, ast.Assign) and len(kept.targets) == 1 else None
    if not isinstance(kept, ast.Assign) or not isinstance(target, ast.Attribute) or ast.unparse(target.value) != own:
        return []
    places = _own_places(project, found, target)
    spreads = _spreads(module, places) if places is not None else None
    if spreads is None:
        return []
    head = with_parameters(module.cst.statement(init), drop=[gathered])
    return [(module, Replace(init, head)), (module, Remove(kept)), *_spelled(module, spreads, [])]


def _own_places(project: Project, found: Definition, target: ast.Attribute) -> list[ast.Attribute] | None:
    """Where methods of a class read an attribute that its constructor sets; None where others may, too.

    Attributes of that name that other classes set and read themselves are others.
    """
    places: list[ast.Attribute] = []
    for module in project.modules.values():
        if target.attr.encode() not in module.source:
            continue
        if any(isinstance(text, ast.Constant) and text.value == target.attr for text in walk(module.tree)):
            return None
        for node in module.nodes(ast.Attribute):
            if node.attr != target.attr or node is target:
                continue
            owner = module.nearest(node, ast.ClassDef)
            if not isinstance(node.value, ast.Name) or owner is None:
                return None
            if owner is found.node:
                places.append(node)
                continue
            method = next(
                (each for each in owner.body if isinstance(each, ast.FunctionDef) and module.is_inside(node, each)),
                None,
            )
            own = [parameter.arg for parameter in method.args.args[:1]] if method is not None else []
            if own != [node.value.id] or found in project.subclasses(Definition(module, owner)):
                return None
    return places


def _given(
    function: ast.FunctionDef, uses: list[tuple[Module, ast.AST | None, ast.expr]]
) -> set[tuple[str, ...]] | None:
    """The keywords that calls give beside the parameters of a function; None where not all are seen."""
    found: set[tuple[str, ...]] = set()
    known = parameters(function)
    for _, call, reference in uses:
        if not isinstance(call, ast.Call) or call.func is not reference:
            return None
        if any(keyword.arg is None for keyword in call.keywords) or any(isinstance(a, ast.Starred) for a in call.args):
            return None
        found.add(tuple(sorted(k.arg for k in call.keywords if k.arg is not None and k.arg not in known)))
    return found


def _spreads(module: Module, reads: Sequence[ast.expr]) -> list[tuple[ast.Call, ast.keyword]] | None:
    """The calls that hand on what was gathered, where nothing else reads it."""
    found = []
    for read in reads:
        keyword = module.parent(read)
        call = module.parent(keyword) if isinstance(keyword, ast.keyword) and keyword.arg is None else None
        if not isinstance(call, ast.Call) or not isinstance(keyword, ast.keyword):
            return None
        found.append((call, keyword))
    calls = [call for call, _ in found]
    inside = any(module.is_inside(one, other) for one in calls for other in calls if one is not other)
    return None if inside or len(set(calls)) < len(calls) else found


def _spelled(
    module: Module, spreads: list[tuple[ast.Call, ast.keyword]], names: list[str]
) -> Iterator[tuple[Module, rewrite.Change]]:
    """Calls that give what was gathered by name."""
    for call, keyword in spreads:
        at = arguments(call).index(keyword)
        old = module.cst.call(call)
        new = (
            with_arguments(old, spread={at: {name: name for name in names}})
            if names
            else with_arguments(old, drop=[at])
        )
        yield module, Replace(call, new)

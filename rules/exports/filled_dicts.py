"""Functions that fill a dict with placeholders, and then compute features of it: in a function of their own, or in the dict."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from migrator.normalise.draft.arguments import given as handed
from migrator.normalise.draft.returns import own_returns
from migrator.resolve.module import Module
from migrator.resolve.project import Project
from migrator.resolve.syntax import walk
from migrator.vocabulary.diagnostics import Edit
from migrator.vocabulary.unsupported import Unsupported

from ..loop.page import Page
from ..loop.places import has_its_line
from .feature_dicts import is_dict
from .fed_entries import loads
from .fed_features import RECEIVER, Inner, Receiver
from .placeholders import arguments_of_call, placeholders, told_by


@dataclass(frozen=True)
class Filled:
    """The dict of placeholders of a function."""

    tensors: ast.Name
    """Where it is handed to the receiver."""
    features: ast.expr
    fed: tuple[tuple[ast.Call, str], ...]
    """The placeholders, each with the text of its name as an input."""
    first: tuple[ast.stmt, ...]
    """The statements down to the last one that fills it."""
    rest: tuple[ast.stmt, ...]
    """Those below, without the last one, which returns the receiver."""


def filled(module: Module, function: ast.FunctionDef, value: ast.expr) -> Filled | None:
    """The dict of placeholders that a function hands to the receiver which it returns, if nothing reads it before it is full."""
    named = isinstance(value, ast.Call) and module.resolve(value.func) == RECEIVER
    given = arguments_of_call(value, "features receiver_tensors") if named and isinstance(value, ast.Call) else None
    tensors = (given or {}).get("receiver_tensors")
    if given is None or set(given) != {"features", "receiver_tensors"} or not isinstance(tensors, ast.Name):
        return None
    statement, fed, places = module.assignment(tensors), list[tuple[ast.Call, str]](), set[int]()
    if statement not in function.body or not isinstance(statement, ast.Assign):
        return None
    for made in placeholders(module, function):
        told, key = told_by(module, made), _key(module, made, statement, tensors)
        if told is None or told.has_default or key is None or not _is_simple(module, key):
            return None
        fed.append((made, module.segment(key)))
    holders = [statement, *(made for made, _ in fed)]
    places = {at for at, each in enumerate(function.body) for part in holders if module.is_inside(part, each)}
    if (
        not fed
        or not _is_full_of(statement.value, [made for made, _ in fed])
        or own_returns(function) != function.body[-1:]
    ):
        return None
    first = function.body[: max(places) + 1]
    for load in loads(module, tensors):
        adds = isinstance(module.parent(load), ast.Subscript) and getattr(module.parent(load), "value", None) is load
        stored = adds and not isinstance(module.parent(load).ctx, ast.Load)  # type: ignore[union-attr]
        if not stored and any(module.is_inside(load, each) for each in first):
            return None
        if stored and module.statement(load) not in {module.statement(made) for made, _ in fed}:
            return None
    return Filled(tensors, given["features"], tuple(fed), tuple(first), tuple(function.body[len(first) : -1]))


def _key(module: Module, made: ast.Call, statement: ast.Assign, tensors: ast.Name) -> ast.expr | None:
    """The key under which a placeholder is put into a dict that a statement makes."""
    parent = module.parent(made)
    if parent is statement.value and isinstance(parent, ast.Dict):
        return parent.keys[parent.values.index(made)] if made in parent.values else None
    if parent is statement.value and isinstance(parent, ast.DictComp):
        return parent.key if parent.value is made else None
    target = parent.targets[0] if isinstance(parent, ast.Assign) and len(parent.targets) == 1 else None
    named = isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name) and target.value.id == tensors.id
    return target.slice if named and module.scope(made) is module.scope(tensors) else None  # type: ignore[union-attr]


def _is_simple(module: Module, key: ast.expr) -> bool:
    """Whether a key may be written twice."""
    calls = [node.func for node in walk(key) if isinstance(node, ast.Call)]
    return all(isinstance(call, ast.Name) and call.id == "str" and not module.bindings(call) for call in calls)


def _is_full_of(value: ast.expr, fed: list[ast.Call]) -> bool:
    """Whether nothing but placeholders stands in a dict where it is made."""
    if isinstance(value, ast.Dict):
        return all(each in fed for each in value.values)
    if isinstance(value, ast.Call):
        return isinstance(value.func, ast.Name) and value.func.id == "dict" and not (value.args or value.keywords)
    return isinstance(value, ast.DictComp) and value.value in fed


def inner_of(module: Module, function: ast.FunctionDef, found: Filled) -> ast.FunctionDef | None:
    """The function, last in the one that fills a dict, that is called with it to compute the features, and for nothing else."""
    made = found.features
    inner = found.rest[0] if len(found.rest) == 1 else None
    if not isinstance(inner, ast.FunctionDef) or inner.decorator_list or not isinstance(made, ast.Call):
        return None
    alone = module.loads_of(inner.name, module.scope(made).lookup(inner.name)) == [made.func]
    own = [argument.arg for argument in (*inner.args.posonlyargs, *inner.args.args)] == [found.tensors.id]
    plain = own and not (inner.args.kwonlyargs or inner.args.vararg or inner.args.kwarg or inner.args.defaults)
    given = made.args if not made.keywords else []
    same = len(given) == 1 and isinstance(given[0], ast.Name) and given[0].id == found.tensors.id
    return (
        inner if alone and plain and same and len(loads(module, found.tensors)) == 2 + _added(module, found) else None
    )


def _added(module: Module, found: Filled) -> int:
    """How many statements add placeholders to the dict."""
    return sum(isinstance(module.parent(made), ast.Assign) for made, _ in found.fed)


def inner_receiver(
    project: Project, module: Module, node: ast.expr, function: ast.FunctionDef, value: ast.expr
) -> Receiver | None:
    """A function that hands the features which a function in it computes to the receiver."""
    found = filled(module, function, value)
    inner = inner_of(module, function, found) if found is not None else None
    if found is None or inner is None or not isinstance(value, ast.Call):
        return None
    told = told_by(module, found.fed[0][0])
    text = len(found.fed) == 1 and told is not None and told.is_text(module)
    if text and not isinstance(module.parent(found.fed[0][0]), ast.Dict):
        return None  # the key is not seen where what classifies is exported
    return Receiver(
        node,
        (value.func,),
        returned=(value, found.features),
        fed=found.fed,
        inner=Inner(inner, found.tensors.id),
        text=text,
        maybe_no_dict=not is_dict(project, module, found.features),
    )


def changed_receiver(
    project: Project, module: Module, node: ast.expr, function: ast.FunctionDef, value: ast.expr
) -> Receiver | None:
    """A function that lets another one change the dict of placeholders, which it hands to the receiver as the features, too."""
    found = filled(module, function, value)
    if (
        found is None
        or not isinstance(value, ast.Call)
        or len(loads(module, found.tensors)) != 2 + _added(module, found)
    ):
        return None
    statement = module.assignment(found.features)
    if isinstance(found.features, ast.Name):
        alone = (
            statement is not None and found.rest == (statement,) and loads(module, found.features) == [found.features]
        )
        if statement is None or not alone or not has_its_line(module, statement):
            return None
    elif found.rest:
        return None
    made = statement.value if statement is not None else found.features
    if not isinstance(made, ast.Call) or not _gives_back(project, module, made, found.tensors.id):
        return None
    return Receiver(node, (value.func,), statement=statement, returned=(value, made), fed=found.fed, changed=made)


def _gives_back(project: Project, module: Module, call: ast.Call, tensors: str) -> bool:
    """Whether a function of the program returns the very dict that it is given, and is given nothing else."""
    definition = project.definition(module, call.func)
    called = definition.node if definition is not None else None
    if definition is None or not isinstance(called, ast.FunctionDef) or called.decorator_list:
        return False
    try:
        values = handed(called, call)
    except Unsupported:
        return False
    name, value = next(iter(values.items())) if len(values) == 1 else ("", call)
    returned = [each.value for each in own_returns(called)]
    own = definition.module.loads_of_parameter(name, called)
    same = bool(returned) and all(each in own for each in returned) and called.body[-1] in own_returns(called)
    once = all(len(definition.module.bindings(each)) == 1 for each in own)
    return same and once and isinstance(value, ast.Name) and value.id == tensors


def changed_edits(page: Page, fed: Receiver, call: ast.Call) -> Iterator[Edit]:
    """The edits by which what a function makes of the placeholders in a dict is traced, to see what is fed."""
    module, tf = page.module, page.tf
    assert fed.returned is not None
    given = [*call.args, *(keyword.value for keyword in call.keywords)][0]
    whole, tensors = fed.returned[0], page.text(given)
    served, last = module.unused_name("served", whole), module.statement(whole)
    traced = f"{tf}.function(lambda {tensors}: {page.text(call, {given: f'{{**{tensors}}}'})})"
    line = f"{served} = {traced}.get_concrete_function({tensors})"
    yield from page.instead(fed.statement, [line]) if fed.statement is not None else page.above(last, [line])
    spec = f"{tf}.TensorSpec(spec.shape, spec.dtype, name=name)"
    yield from page.replaced(whole, f"{{name: {spec} for name, spec in {served}.structured_outputs.items()}}")

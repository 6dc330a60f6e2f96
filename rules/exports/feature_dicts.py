"""Dicts of features in functions that say what a SavedModel is fed: what is one, and what only reads it."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from types import MappingProxyType

from migrator.normalise.draft.arguments import given as handed
from migrator.resolve.module import Module
from migrator.resolve.project import Project
from migrator.vocabulary.unsupported import Unsupported

from ..program.settled import returns_of

_DEEP = 12
_READING = frozenset({"print", "len", "sorted", "list", "dict"})
"""Functions of Python that change nothing of a dict."""


def is_dict(project: Project, module: Module, node: ast.expr, given: Mapping[str, bool] = MappingProxyType({})) -> bool:
    """Whether features are seen to be a dict; `given` says it of the parameters of the function around."""
    statement = module.assignment(node)
    made, place = (statement.value, None) if statement is not None else _unpacked(module, node)
    if isinstance(made, ast.Name) and statement is None:
        bindings = module.bindings(made)
        return len(bindings) == 1 and isinstance(bindings[0].node, ast.arg) and given.get(made.id, False)
    if not isinstance(made, ast.Call):
        return isinstance(made, (ast.Dict, ast.DictComp))
    if place is None and (module.resolve(made.func) or "").endswith((".parse_example", ".parse_single_example")):
        return True
    if place is None and isinstance(made.func, ast.Name) and made.func.id == "dict" and not module.bindings(made.func):
        return True
    if place is None and isinstance(made.func, ast.Attribute) and made.func.attr == "copy" and not made.args:
        return is_dict(project, module, made.func.value, given)
    found = project.definition(module, made.func)
    if found is None or not isinstance(found.node, ast.FunctionDef) or found.node.decorator_list or len(given) > _DEEP:
        return False
    try:
        values = handed(found.node, made)
    except Unsupported:
        return False
    known = {
        **{f"{name} ": True for name in given},
        **{n: is_dict(project, module, v, given) for n, v in values.items()},
    }
    returned = [_part(each.value, place) for each in returns_of(found.module, found.node)]
    return bool(returned) and all(each is not None and is_dict(project, found.module, each, known) for each in returned)


def _unpacked(module: Module, node: ast.expr) -> tuple[ast.expr, int | None]:
    """The call that gives a name one of several values, ``features, labels = parse(rows)``, and the place of that; else the
    expression itself."""
    bindings = module.bindings(node) if isinstance(node, ast.Name) else []
    target = bindings[0].node if len(bindings) == 1 else None
    outer = module.parent(target) if target is not None else None
    statement = module.parent(outer) if isinstance(outer, (ast.Tuple, ast.List)) else None
    if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Call) and statement.targets == [outer]:
        return statement.value, outer.elts.index(target)  # type: ignore[union-attr]
    return node, None


def _part(value: ast.expr | None, place: int | None) -> ast.expr | None:
    """One of the values that a function returns; what it returns where it is not asked for one of several."""
    if place is None:
        return value
    whole = isinstance(value, ast.Tuple) and not any(isinstance(part, ast.Starred) for part in value.elts)
    return value.elts[place] if whole and place < len(value.elts) else None  # type: ignore[union-attr]


def only_reads(project: Project, module: Module, load: ast.Name) -> bool:
    """Whether the place that reads a dict changes nothing of it, nor a function that is given it."""
    if _reads_a_dict(module, load):
        return True
    parent = module.parent(load)
    outer = module.parent(parent) if isinstance(parent, ast.keyword) else parent
    found = project.definition(module, outer.func) if isinstance(outer, ast.Call) else None
    if found is None or not isinstance(outer, ast.Call) or not isinstance(found.node, ast.FunctionDef):
        return False
    try:
        own = [name for name, value in handed(found.node, outer).items() if value is load]
    except Unsupported:
        return False
    loads = [each for name in own for each in found.module.loads_of_parameter(name, found.node)]
    bound = all(len(found.module.bindings(each)) == 1 for each in loads)
    return bound and all(_reads_a_dict(found.module, each) for each in loads)


def _reads_a_dict(module: Module, load: ast.Name) -> bool:
    """Whether the place that reads a dict only looks at it, or prints it."""
    parent = module.parent(load)
    if isinstance(parent, ast.Call) and load in parent.args:
        text = isinstance(parent.func, ast.Attribute) and isinstance(parent.func.value, ast.Constant)
        own = isinstance(parent.func, ast.Name) and not module.bindings(parent.func)
        return text or (own and getattr(parent.func, "id", "") in _READING)
    if isinstance(parent, ast.Attribute):
        called = module.parent(parent)
        asks = isinstance(called, ast.Call) and called.func is parent
        return asks and parent.attr in ("items", "keys", "values", "copy", "get")
    if isinstance(parent, ast.Subscript):
        return isinstance(parent.ctx, ast.Load)
    return isinstance(parent, (ast.comprehension, ast.For)) and parent.iter is load

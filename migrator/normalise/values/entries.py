"""What the entries of the params are that a model_fn gets."""

from __future__ import annotations

import ast

from migrator.normalise.names.param_uses import is_changed, kind_of
from migrator.normalise.names.spelled_entries import text_key
from migrator.normalise.objects.reserved import PARAMS
from migrator.resolve.module import Module
from migrator.resolve.project import Project
from migrator.resolve.syntax import is_name

Place = tuple[Module, ast.expr]
_PLACE = 3
"""Where an Estimator takes the params."""


def entry_values(project: Project, module: Module, node: ast.Subscript) -> list[Place]:
    """What ``params["network"]`` of a model_fn is, for each of its Estimators; nothing where that is not seen."""
    key, name = text_key(node.slice), node.value
    if not isinstance(name, ast.Name) or name.id != PARAMS or key is None:
        return []
    bindings = module.bindings(name)
    parameter = bindings[0].node if len(bindings) == 1 else None
    function = module.parent(module.parent(parameter) or parameter) if isinstance(parameter, ast.arg) else None
    if not isinstance(function, ast.FunctionDef) or function.decorator_list:
        return []
    if not all(_is_kept(project, module, read) for read in module.loads_of_parameter(PARAMS, function)):
        return []
    scope = module.scope(module.parent(function) or module.tree)
    found = [_given(project, *place, key) for place in project.readers.of(module, scope, function.name)]
    values = [place for place in found if place is not None]
    return values if len(values) == len(found) else []


def _given(project: Project, module: Module, reference: ast.expr, key: str) -> Place | None:
    """The entry of the params that an Estimator of a model_fn gets."""
    parent = module.parent(reference)
    call = module.parent(parent) if isinstance(parent, ast.keyword) else parent
    if not isinstance(call, ast.Call) or not (module.resolve(call.func) or "").endswith(".Estimator"):
        return None
    places = [] if any(isinstance(argument, ast.Starred) for argument in call.args) else call.args[_PLACE : _PLACE + 1]
    given = next((keyword.value for keyword in call.keywords if keyword.arg == PARAMS), None)
    given = places[0] if places else given
    if isinstance(given, ast.Name):
        statement, scope = module.assignment(given), module.scope(given).lookup(given.id)
        reads = module.loads_of(given.id, scope) if scope is not None else []
        if statement is None or not all(read is given or _is_kept(project, module, read) for read in reads):
            return None
        given = statement.value
    value = None
    if isinstance(given, ast.Dict) and None not in given.keys:
        entries = {text_key(each): value for each, value in zip(given.keys, given.values) if each is not None}
        value = entries.get(key)
    elif isinstance(given, ast.Call) and is_name(given.func, "dict") and "dict" not in module.bound_names:
        value = next((k.value for k in given.keywords if k.arg == key), None) if not given.args else None
    return (module, value) if value is not None else None


def _is_kept(project: Project, module: Module, read: ast.Name) -> bool:
    """Whether a place that reads a dict leaves its entries as they are."""
    kind = kind_of(module, read)[0]
    return kind in ("reads", "asked") or (kind == "whole" and not is_changed(project, module, read))

"""Parameters and local names that hold a model_fn hold what makes the model now, and are called so."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from migrator.resolve.module import Module
from migrator.resolve.project import Project
from migrator.resolve.symbols import Scope
from migrator.rewrite import Rename

from .model_fns import HandedOn, ModelFn

_NAMES = frozenset({"model_fn", "model_function", "modelfn"})
NEW = "create_model"


def new_name(node: ast.expr, module: Module, handed_on: HandedOn, models: Iterable[ModelFn]) -> str | None:
    """What a name that an Estimator is made with is called afterwards; None for anything but a name that is handed on."""
    scope = module.scope(node).lookup(node.id) if isinstance(node, ast.Name) else None
    if not isinstance(node, ast.Name) or scope is None:
        return None
    return NEW if _is_renamed((module, scope, node.id), handed_on, models) else node.id


def name_changes(
    module: Module, project: Project, handed_on: HandedOn, models: Iterable[ModelFn], made: set[ast.expr]
) -> Iterator[Rename]:
    """Changes of a module that rename such names, but for those that Estimators are `made` with."""
    for holder in handed_on.holders():
        home, scope, name = holder
        if not _is_renamed(holder, handed_on, models):
            continue
        for binding in scope.bindings[name]:
            place = binding.node.targets[0] if isinstance(binding.node, ast.Assign) else binding.node
            if home is module and isinstance(place, (ast.arg, ast.Name)):
                yield Rename(place, NEW)
            if isinstance(binding.node, ast.arg):
                yield from _keywords(module, project, home, binding.node)
        for other, node in project.readers.of(home, scope, name):
            if other is module and node not in made:
                assert isinstance(node, (ast.Name, ast.Attribute))
                yield Rename(node, NEW)


def _is_renamed(holder: tuple[Module, Scope, str], handed_on: HandedOn, models: Iterable[ModelFn]) -> bool:
    module, scope, name = holder
    if name not in _NAMES or scope.kind != "function" or holder not in handed_on.holders():
        return False
    shadowed = any(model.factory == NEW and model.definition.name != name for model in models)
    return NEW not in module.bound_names and not shadowed


def _keywords(module: Module, project: Project, home: Module, parameter: ast.arg) -> Iterator[Rename]:
    """``run(model_fn=…)`` where the function that has the parameter is called."""
    function = home.parent(home.parent(parameter) or parameter)
    assert isinstance(function, ast.FunctionDef)
    scope = home.scope(home.parent(function) or home.tree)
    for other, reference in project.readers.of(home, scope, function.name):
        call = other.parent(reference) if other is module else None
        for keyword in call.keywords if isinstance(call, ast.Call) else ():
            if keyword.arg == parameter.arg:
                yield Rename(keyword, NEW)

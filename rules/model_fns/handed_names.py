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


def name_changes(module: Module, project: Project, handed_on: HandedOn, models: Iterable[ModelFn]) -> Iterator[Rename]:
    """Changes of a module that rename such names."""
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
            if other is module:
                assert isinstance(node, (ast.Name, ast.Attribute))
                yield Rename(node, NEW)


def _is_renamed(holder: tuple[Module, Scope, str], handed_on: HandedOn, models: Iterable[ModelFn]) -> bool:
    module, scope, name = holder
    if name not in _NAMES or scope.kind != "function" or holder not in handed_on.holders():
        return False
    if any(isinstance(binding.node, ast.FunctionDef) for binding in scope.bindings[name]):
        return False
    if isinstance(module.parent(scope.node), ast.ClassDef):  # whose callers may give it by its name in many ways
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

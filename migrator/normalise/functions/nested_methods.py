"""Functions inside of a method that read nothing of it but its object: methods of their own, as the others are."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from migrator import rewrite
from migrator.normalise.draft.draft import Change
from migrator.normalise.functions.lift import removal
from migrator.normalise.objects.methods import members
from migrator.resolve.module import Module
from migrator.resolve.project import Definition, Project
from migrator.resolve.syntax import walk
from migrator.rewrite import Insert, Replace, expr, with_parameters

_BLIND = (ast.Nonlocal, ast.Yield, ast.YieldFrom, ast.Await)


def as_methods(project: Project, module: Module, function: ast.FunctionDef) -> list[Change]:
    """The changes that make a method of a nested function, and of those beside it that it calls; none where it is no such."""
    method = module.parent(function)
    owner = module.parent(method) if isinstance(method, ast.FunctionDef) else None
    if not isinstance(method, ast.FunctionDef) or not isinstance(owner, ast.ClassDef):
        return []
    if method.decorator_list or not method.args.args:
        return []
    found = _closed(module, method, function)
    family = [Definition(module, owner), *project.subclasses(Definition(module, owner))]
    taken = {name for one in family for name in members(one.node)}
    if found is None or any(nested.name in taken for nested in found) or function not in method.body:
        return []
    this, changes = method.args.args[0].arg, list[rewrite.Change]()
    for nested in found:
        head = with_parameters(module.cst.statement(nested), first=this)
        changes += [Insert(head, after=method, apart=True), removal(nested)]
        for load in module.loads_of(nested.name, module.scope(method)):
            changes.append(Replace(load, expr(f"{this}.{nested.name}")))
    return Change.of(module, *changes)


def _closed(module: Module, method: ast.FunctionDef, function: ast.FunctionDef) -> list[ast.FunctionDef] | None:
    """The function and those of the method that it reads, where they read nothing else of it but its object."""
    found, waiting = list[ast.FunctionDef](), [function]
    scope, this = module.scope(method), method.args.args[0].arg
    while waiting:
        nested = waiting.pop()
        if nested in found:
            continue
        found.append(nested)
        if nested.decorator_list or any(isinstance(node, _BLIND) for node in walk(nested)):
            return None
        if not all(
            isinstance(default, ast.Constant)
            for default in (*nested.args.defaults, *nested.args.kw_defaults)
            if default
        ):
            return None
        if nested not in method.body or len(scope.bindings.get(nested.name, [])) != 1:
            return None
        for node in _free(module, nested, scope):
            bound = [binding.node for binding in scope.bindings[node.id]]
            if node.id == this and len(bound) == 1:
                continue
            if len(bound) != 1 or not isinstance(bound[0], ast.FunctionDef):
                return None
            waiting.append(bound[0])
    return found


def _free(module: Module, nested: ast.FunctionDef, scope: object) -> Iterator[ast.Name]:
    """What a nested function reads of the names of the function around it."""
    for node in walk(nested):
        if isinstance(node, ast.Name) and module.scope(node).lookup(node.id) is scope and node.id != "super":
            yield node

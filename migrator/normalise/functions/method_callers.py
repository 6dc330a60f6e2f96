"""What all callers of a method give for one of its parameters."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from migrator.normalise.draft.stuck import Stuck
from migrator.normalise.functions.handed import given_at
from migrator.normalise.objects.methods import method_of
from migrator.resolve.module import Module
from migrator.resolve.project import Definition, Project
from migrator.resolve.syntax import walk


def given_by_method_callers(project: Project, module: Module, parameter: ast.arg) -> list[tuple[Module, ast.expr]]:
    """Their values with their files, and the default where one gives none. Raises Stuck."""
    function = module.parent(module.parent(parameter) or parameter)
    owner = module.parent(function) if function is not None else None
    if not isinstance(function, ast.FunctionDef) or function.decorator_list or not isinstance(owner, ast.ClassDef):
        raise Stuck("who calls the method is not seen", parameter)
    if project.subclasses(Definition(module, owner)):
        raise Stuck("other classes may have it", function)
    return given_at(_references(project, module, owner, function), module, function, parameter, method=True)


def _references(
    project: Project, module: Module, owner: ast.ClassDef, function: ast.FunctionDef
) -> Iterator[tuple[Module, ast.expr]]:
    """The places that read a method. Raises Stuck where one may do so and is not seen to."""
    for where in project.modules.values():
        if function.name == "__init__":
            yield from ((where, use) for use in project.uses(Definition(module, owner), where))
            continue
        for node in where.nodes(ast.Attribute) if function.name.encode() in where.source else ():
            if node.attr != function.name:
                continue
            found = method_of(project, where, node)
            if found is not None and found.function is function:
                yield where, node
            elif found is None and not _is_of_library(where, node.value):
                raise Stuck("what has the method is not seen", node)


def _is_of_library(module: Module, node: ast.expr) -> bool:
    """Whether an expression is something of TensorFlow, or holds nothing but what TensorFlow made."""
    if (module.resolve(node) or "").startswith("tensorflow."):
        return True
    statement = module.assignment(node)
    values = [statement.value] if statement is not None else []
    owner = module.nearest(node, ast.ClassDef)
    if isinstance(node, ast.Attribute) and owner is not None:
        same = ast.unparse(node)
        stores = (part for part in walk(owner) if isinstance(part, ast.Assign))
        values = [part.value for part in stores if same in map(ast.unparse, part.targets)]
    names = [module.resolve(value.func) or "" if isinstance(value, ast.Call) else "" for value in values]
    return bool(names) and all(name.startswith("tensorflow.") for name in names)

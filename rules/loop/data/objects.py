"""Objects of the program that keep a dataset as an attribute: ``Pipeline(path).dataset``."""

from __future__ import annotations

import ast

from migrator.resolve.project import Definition, Project
from migrator.resolve.syntax import walk

from .kinds import Env, Object


def initializer(owner: Definition) -> ast.FunctionDef | None:
    """The `__init__` of a class that is derived from no other, and is made in no other way."""
    node = owner.node
    if not isinstance(node, ast.ClassDef) or node.decorator_list or node.keywords:
        return None
    if any(not (isinstance(base, ast.Name) and base.id == "object") for base in node.bases):
        return None
    found = [each for each in node.body if isinstance(each, ast.FunctionDef) and each.name == "__init__"]
    plain = len(found) == 1 and not found[0].decorator_list and bool(found[0].args.args)
    return found[0] if plain and not any(isinstance(part, ast.Return) for part in walk(found[0])) else None


def kept(project: Project, function: ast.FunctionDef, env: Env) -> Object:
    """The object with the attributes that nothing but its `__init__` sets."""
    own = function.args.args[0].arg
    inside = {id(node) for node in walk(function)}
    prefix = f"{own}."
    found = {name[len(prefix) :]: value for name, value in env.items() if name.startswith(prefix)}
    for module in project.modules.values():
        for node in module.nodes(ast.Attribute):
            if node.attr in found and not isinstance(node.ctx, ast.Load) and id(node) not in inside:
                del found[node.attr]
    return Object(tuple(found.items()))

"""Methods of objects of the program that make datasets: ``reader.dataset``, where ``reader = Reader(path)``."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from migrator.normalise.objects.methods import class_of, lookup, method_named
from migrator.resolve.module import Module
from migrator.resolve.project import Definition, Project
from migrator.resolve.syntax import walk

from ..values import given_to
from .kinds import Function

_DEEP = 8
_NOTHING: dict[str, None] = {}


def methods(project: Project, module: Module, node: ast.Attribute) -> list[Function]:
    """The methods that an attribute of an object or of a class may be, each once; none if one of them is not seen."""
    found: dict[ast.FunctionDef, Function] = {}
    for owner, is_class in _owners(project, module, node.value):
        known = method_named(project, owner, is_class, node.attr, node.value) if owner is not None else None
        if owner is None or (known is None and is_class):
            return []
        if known is not None:
            given: tuple[None, ...] = () if known.kind == "static" else (None,)
            found[known.function] = Function(known.module, known.function, _NOTHING, given)
            continue
        below = dict(_of_family(project, owner, node.attr))
        if not below or any(function.decorator_list for function in below):
            return []
        found.update({function: Function(where, function, _NOTHING, (None,)) for function, where in below.items()})
    return list(found.values())


def properties(project: Project, module: Module, node: ast.Attribute) -> list[Function]:
    """The functions of the property that an attribute of an object may be, each once; none if one of them is not seen."""
    found: dict[ast.FunctionDef, Function] = {}
    for owner, is_class in _owners(project, module, node.value):
        below = dict(_of_family(project, owner, node.attr)) if owner is not None and not is_class else {}
        if not below or any([ast.unparse(d) for d in each.decorator_list] != ["property"] for each in below):
            return []
        found.update({function: Function(where, function, _NOTHING, (None,)) for function, where in below.items()})
    return list(found.values())


def _of_family(project: Project, owner: Definition, name: str) -> Iterator[tuple[ast.FunctionDef, Module]]:
    """The methods of a name that objects of a class or of those below it may have, and their files; abstract ones never run."""
    for each in (owner, *project.subclasses(owner)):
        found = lookup(project, each, name)
        if found is not None and not any(ast.unparse(d).endswith("abstractmethod") for d in found[1].decorator_list):
            yield found[1], found[0].module


def _owners(
    project: Project, module: Module, node: ast.expr, depth: int = 0
) -> Iterator[tuple[Definition | None, bool]]:
    """The classes whose object an expression may be, or that it may be itself; None for one that is not seen."""
    if depth > _DEEP:
        yield None, False
        return
    if isinstance(node, ast.Call):
        made = project.definition(module, node.func)
        yield (made if made is not None and isinstance(made.node, ast.ClassDef) else None), False
        return
    owner, is_class = class_of(project, module, node)
    if owner is not None:
        yield owner, is_class
        return
    kept = given_to(project, module, node) or _kept(project, module, node)
    for where, value in kept:
        yield from _owners(project, where, value, depth + 1)
    if not kept:
        yield None, False


def _kept(project: Project, module: Module, node: ast.expr) -> list[tuple[Module, ast.expr]]:
    """What ``self.reader`` is assigned in its class, if that is the only class of its family."""
    if not isinstance(node, ast.Attribute):
        return []
    owner, is_class = class_of(project, module, node.value)
    if owner is None or is_class or project.subclasses(owner):
        return []
    kept = []
    for target in walk(owner.node):
        if isinstance(target, ast.Attribute) and target.attr == node.attr and not isinstance(target.ctx, ast.Load):
            statement = owner.module.parent(target)
            if not isinstance(statement, ast.Assign) or statement.targets != [target]:
                return []
            kept.append((owner.module, statement.value))
    return kept

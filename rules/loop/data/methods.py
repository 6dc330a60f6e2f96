"""Methods of objects of the program that make datasets: ``reader.dataset``, where ``reader = Reader(path)``."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from migrator.normalise.objects.methods import class_of, method_named
from migrator.resolve.module import Module
from migrator.resolve.project import Definition, Project
from migrator.resolve.syntax import walk

from ..values import given_to
from .kinds import Function

_DEEP = 8
_NOTHING: dict[str, None] = {}


def method(project: Project, module: Module, node: ast.Attribute) -> Function | None:
    """The method that an attribute of an object or of a class is, if it is the same whatever object that may be."""
    methods = [
        method_named(project, owner, is_class, node.attr, node.value) if owner is not None else None
        for owner, is_class in _owners(project, module, node.value)
    ]
    first = methods[0]
    if first is None or any(each is None or each.function is not first.function for each in methods):
        return None
    return Function(first.module, first.function, _NOTHING, () if first.kind == "static" else (None,))


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

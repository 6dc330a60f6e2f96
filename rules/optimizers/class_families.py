"""Classes that are derived from each other, and the methods that they reach through `super`."""

from __future__ import annotations

import ast

from migrator.normalise.objects.methods import lookup
from migrator.resolve.module import Module
from migrator.resolve.project import Definition, Project


def family(project: Project, owner: Definition) -> list[Definition]:
    """The class with all its bases and subclasses."""
    found = {owner: None}
    stack = [owner]
    while stack:
        one = stack.pop()
        assert isinstance(one.node, ast.ClassDef)
        bases = [project.definition(one.module, base) for base in one.node.bases]
        for other in [*project.subclasses(one), *bases]:
            if other is not None and isinstance(other.node, ast.ClassDef) and other not in found:
                found[other] = None
                stack.append(other)
    return list(found)


def method_of_base(project: Project, module: Module, function: ast.expr) -> tuple[Module, ast.FunctionDef] | None:
    """The method behind ``super().__init__``."""
    if not isinstance(function, ast.Attribute) or not isinstance(function.value, ast.Call):
        return None
    inner = function.value.func
    owner = module.nearest(function, ast.ClassDef)
    if not isinstance(inner, ast.Name) or inner.id != "super" or owner is None:
        return None
    for base in owner.bases:
        parent = project.definition(module, base)
        if parent is not None and isinstance(parent.node, ast.ClassDef):
            found = lookup(project, parent, function.attr)
            if found is not None:
                return found[0].module, found[1]
    return None

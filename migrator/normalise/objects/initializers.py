"""What runs the `__init__` of a class: whoever makes an object of it, or of a class that is derived from it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from migrator.normalise.objects.methods import own_method, reads_class
from migrator.normalise.objects.unbox import ancestors
from migrator.normalise.values.decorated import may_hand_on
from migrator.resolve.module import Module
from migrator.resolve.project import Definition, Project
from migrator.resolve.syntax import is_super, walk


def initializer_calls(project: Project, owner: Definition) -> list[tuple[Module, ast.Call]] | None:
    """The calls that run the `__init__` which a class of a file defines; None where more is done with it than to call it and
    to derive from it, or where a class of its family is decorated or stands elsewhere."""
    family = [owner, *project.subclasses(owner)]
    if any(may_hand_on(one) or one.module.parent(one.node) is not one.module.tree for one in family):
        return None
    function, found = _initializer(project, owner), list[tuple[Module, ast.Call]]()
    for one in family:
        found += ((one.module, call) for call in _calls_above(project, one, function))
        if _initializer(project, one) is not function:
            continue
        for module, node in project.readers.of(one.module, one.module.analysis.root, one.name):
            outer = module.parent(node)
            if isinstance(outer, ast.Call) and outer.func is node:
                found.append((module, outer))
            elif not (is_super(outer) or isinstance(outer, ast.ClassDef) or reads_class(family, outer)):
                return None
    return found


def _initializer(project: Project, owner: Definition, above: bool = False) -> ast.FunctionDef | None:
    """The `__init__` that objects of a class have; with `above` the one that it calls by ``super()``."""
    for one in [*ancestors(project, owner)][above:]:
        found = own_method(one.node, "__init__") if isinstance(one.node, ast.ClassDef) else None
        if found is not None:
            return found
    return None


def _calls_above(project: Project, owner: Definition, function: ast.FunctionDef | None) -> Iterator[ast.Call]:
    """The calls of an `__init__` in that of a class that is derived."""
    own = own_method(owner.node, "__init__") if isinstance(owner.node, ast.ClassDef) else None
    for call in walk(own) if own is not None and own is not function else ():
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "__init__":
            if is_super(call.func.value) and _initializer(project, owner, above=True) is function:
                yield call

"""What objects of a class derived from RunConfig hold beside its fields, and where a program reads it."""

from __future__ import annotations

import ast
from collections.abc import Collection, Mapping
from typing import Optional

from migrator.emit.render import Renderer
from migrator.resolve.module import Module
from migrator.resolve.project import Definition, Project
from migrator.resolve.syntax import does_nothing, is_name, walk

from ..estimator_calls.derived_configs import TAKEN
from ..loop.settings import are_known

Fields = Mapping[str, ast.expr]
"""Expressions of the parameters of an initializer and of other fields, by the names under which programs read them."""
_BY_TEXT = frozenset({"getattr", "hasattr", "setattr", "vars"})
"""Functions that ask for a field by its name, or for all."""
_ATOMS = (ast.Constant, ast.Name, ast.Attribute, ast.Call, ast.Subscript)
"""What needs no parentheses as an operand."""


def fields_of(owner: ast.ClassDef, made: ast.FunctionDef, own: str) -> dict[str, ast.expr] | None:
    """The fields that a class adds, `own` in its initializer; None: it does more than that."""
    found: dict[str, ast.expr] = {}
    for statement in made.body:
        if isinstance(statement, ast.Assign):
            target = statement.targets[0]
            if len(statement.targets) > 1 or not isinstance(target, ast.Attribute) or not is_name(target.value, own):
                return None
            if target.attr in found or not _reads_known(statement.value, own, ()):
                return None
            found[target.attr] = statement.value
        elif not isinstance(statement, ast.Expr):
            return None
    for part in (part for part in owner.body if part is not made):
        if does_nothing(part):
            continue
        said = [each for each in getattr(part, "body", ()) if not does_nothing(each)]
        given = said[0].value if len(said) == 1 and isinstance(said[0], ast.Return) else None
        if not isinstance(part, ast.FunctionDef) or given is None or part.name in found:
            return None
        if len(part.decorator_list) != 1 or not is_name(part.decorator_list[0], "property"):
            return None
        if any(n.id != part.args.args[0].arg for n in walk(given) if isinstance(n, ast.Name)):
            return None  # of the file, say
        if not _reads_known(given, part.args.args[0].arg, found):
            return None
        found[part.name] = given
    return None if any(name.strip("_") in TAKEN for name in found) else found


def _reads_known(node: ast.expr, own: str, known: Collection[str]) -> bool:
    """Whether all that an expression reads of its object are fields that are known."""
    held = {id(part.value) for part in walk(node) if isinstance(part, ast.Attribute) and part.attr in known}
    return all(id(part) in held for part in walk(node) if is_name(part, own))


def text_of(name: str, fields: Fields, home: Module, given: Mapping[str, str]) -> str:
    """How a field is written where parameters of the initializer are `given` as these texts."""

    def substituted(node: ast.AST) -> Optional[str]:
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id not in given:
            held = text_of(node.attr, fields, home, given) if node.attr in fields else None
            closed = held is None or isinstance(fields[node.attr], _ATOMS)
            return held if closed or node is fields[name] else f"({held})"
        return given.get(node.id) if isinstance(node, ast.Name) else None

    return Renderer(home).expression(fields[name], substituted)


def reads_of(
    project: Project, owner: Definition, fields: Fields, module: Module, call: ast.Call, values: Collection[ast.expr]
) -> dict[ast.Attribute, str] | None:
    """The places that read fields of the object that a call makes, with their names; None where some may not be seen, or
    where the `values` that the call gives may not be the same."""
    if not fields:
        return {}
    statement = module.parent(call)
    target = statement.targets[0] if isinstance(statement, ast.Assign) and len(statement.targets) == 1 else None
    found: dict[ast.Attribute, str] = {}
    if isinstance(target, ast.Name) and len(module.bindings(target)) == 1:
        for load in module.loads_of(target.id, module.scope(target).lookup(target.id)):
            outer = module.parent(load)
            if isinstance(outer, ast.Attribute) and outer.attr in fields and isinstance(outer.ctx, ast.Load):
                found[outer] = outer.attr
            elif isinstance(outer, ast.Call) and getattr(outer.func, "id", "") in _BY_TEXT:
                return None
    if not isinstance(statement, ast.stmt) or any(not are_known(module, statement, at, values) for at in found):  # type: ignore[arg-type]
        return None
    return None if _is_read_elsewhere(project, owner, fields, found) else found


def _is_read_elsewhere(project: Project, owner: Definition, fields: Fields, found: Collection[ast.Attribute]) -> bool:
    """Whether an attribute of the same name may be read of the object at other places than those that were `found`."""
    for module in project.modules.values():
        for node in module.nodes(ast.Attribute):
            own = module is owner.module and module.is_inside(node, owner.node)
            if node.attr in fields and node not in found and not own and not _is_of_another(module, node.value):
                return True
    return False


def _is_of_another(module: Module, node: ast.expr) -> bool:
    """Whether an expression is surely another object: one of a library, or options that were parsed."""
    function = node.func if isinstance(node, ast.Call) else node
    if module.resolve(function) is not None:
        return True
    if isinstance(node, ast.Call):
        return isinstance(function, ast.Attribute) and function.attr == "parse_args"
    outer = [module.parent(each.node) for each in module.bindings(node)] if isinstance(node, ast.Name) else []
    return bool(outer) and all(isinstance(each, ast.Assign) and _is_of_another(module, each.value) for each in outer)

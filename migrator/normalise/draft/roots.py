"""Where the preparation begins: the function behind the model_fn of an Estimator, the calls in it, and what they reach."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable

from migrator.normalise.values.possible_values import handed
from migrator.resolve.module import Module
from migrator.resolve.project import Definition, Project
from migrator.resolve.syntax import walk


def root_function(project: Project, module: Module, node: ast.expr) -> Definition | None:
    """The model_fn behind an argument of an Estimator: a function, or what a builder returns."""
    if isinstance(node, ast.Call):
        if module.resolve(node.func) == "functools.partial" and node.args:
            return root_function(project, module, node.args[0])
        builder = project.definition(module, node.func)
        if builder is None or not isinstance(builder.node, ast.FunctionDef):
            return None
        for inner in builder.node.body:
            if isinstance(inner, ast.Return) and isinstance(inner.value, (ast.Name, ast.Call)):
                return root_function(project, builder.module, inner.value)
        return None
    definition = project.definition(module, node)
    if definition is not None:
        return definition if isinstance(definition.node, ast.FunctionDef) else None
    if isinstance(node, ast.Name):
        bindings = module.bindings(node)
        bound = bindings[0].node if len(bindings) == 1 else None
        statement = module.statement(bound) if isinstance(bound, ast.Name) else None
        if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Call):
            return root_function(project, module, statement.value)
    return None


def calls_below(module: Module, function: ast.AST) -> list[ast.Call]:
    """Calls below a function in source order, innermost of one place first."""
    known: dict[ast.AST, list[ast.Call]] = module.memo.setdefault("calls below", {})
    if function not in known:
        calls = [node for node in walk(function) if isinstance(node, ast.Call)]
        known[function] = sorted(calls, key=lambda call: (call.lineno, call.col_offset, -(call.end_col_offset or 0)))
    return known[function]


def reached(
    project: Project, roots: Iterable[tuple[Module, ast.expr]], makes_layers: Callable[[Definition], bool]
) -> list[Definition]:
    """The model_fns, and the helpers that make layers."""
    found: dict[Definition, None] = {}
    stack = [d for d in (root_function(project, m, n) for m, n in roots) if d is not None]
    while stack:
        definition = stack.pop()
        if definition in found:
            continue
        found[definition] = None
        for call in calls_below(definition.module, definition.node):
            for other in _behind(project, definition.module, call.func):
                if isinstance(other.node, ast.FunctionDef) and makes_layers(other):
                    if not other.module.is_inside(other.node, definition.node):
                        stack.append(other)
    return list(found)


def _behind(project: Project, module: Module, function: ast.expr) -> list[Definition]:
    """The definitions that an expression which is called may stand for: by name, or out of a table."""
    definition = project.definition(module, function)
    if definition is not None or not isinstance(function, (ast.Name, ast.Subscript)):
        return [definition] if definition is not None else []
    if isinstance(function, ast.Name) and not module.bindings(function):
        return []  # a built-in function
    way = handed(project, module, function)
    places = way.values if way is not None else []
    return [found for found in (project.definition(*place) for place in places) if found is not None]

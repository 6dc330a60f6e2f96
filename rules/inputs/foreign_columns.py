"""Feature columns that another library makes: what they compute is not known here."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from migrator.analyse.function.errors import Unsupported
from migrator.resolve.module import Module
from migrator.resolve.project import Project
from migrator.resolve.symbols import Scope
from migrator.resolve.syntax import walk

Place = tuple[Module, ast.AST]


def refuse_foreign_columns(project: Project, module: Module, given: dict[str, ast.expr]) -> None:
    """Refuse arguments of a canned Estimator that hold a column of another library, by whatever name. Raises Unsupported."""
    for name, value in given.items():
        if not name.endswith("feature_columns"):
            continue
        for place, code in _code_behind(project, module, value):
            for node in walk(code):
                library = _foreign(project, place, node)
                if library is not None:
                    at = node if place is module else value
                    raise Unsupported(f"`{name}` has a feature column of another library, {library}", at)


def _foreign(project: Project, module: Module, node: ast.AST) -> str | None:
    """The function of another library that a call makes a column with."""
    library = module.resolve(node.func) if isinstance(node, ast.Call) else None
    if library is None or not library.endswith("_column"):
        return None
    head = library.partition(".")[0]
    own = not head or head == "tensorflow" or project.module_named(head, module) is not None
    assert isinstance(node, ast.Call)
    return None if own or "." not in library or project.definition(module, node.func) is not None else library


def _code_behind(project: Project, module: Module, value: ast.expr) -> Iterator[Place]:
    """An expression, the functions of the program that it names, and what gives its variables their values."""
    waiting: list[Place] = [(module, value)]
    seen: set[ast.AST] = set()
    while waiting:
        place, node = waiting.pop()
        if node in seen:
            continue
        seen.add(node)
        yield place, node
        for name in (part for part in walk(node) if isinstance(part, (ast.Name, ast.Attribute))):
            if not isinstance(name.ctx, ast.Load):
                continue
            definition = project.definition(place, name)
            if definition is not None:
                waiting += (
                    [(definition.module, definition.node)] if isinstance(definition.node, ast.FunctionDef) else []
                )
            elif isinstance(name, ast.Name) and (holder := place.scope(name).lookup(name.id)) is not None:
                waiting += ((place, given) for given in _values(place, holder, name.id))
            head, _, last = (place.qualified(name) or "").rpartition(".")
            other = project.module_named(head, place) if head.strip(".") else None
            if other is not None and last in other.analysis.root.bindings:
                waiting += ((other, given) for given in _values(other, other.analysis.root, last))


def _values(module: Module, holder: Scope, name: str) -> Iterator[ast.AST]:
    """What a variable of a scope is given, and what methods such as `append` are given for it."""
    for binding in holder.bindings[name]:
        statement = module.statement(binding.node) if isinstance(binding.node, ast.Name) else None
        if isinstance(statement, (ast.Assign, ast.AnnAssign, ast.AugAssign)) and statement.value is not None:
            yield statement.value
    for call in (part for part in walk(holder.node) if isinstance(part, ast.Call)):
        receiver = call.func.value if isinstance(call.func, ast.Attribute) else None
        if isinstance(receiver, ast.Name) and receiver.id == name and module.scope(receiver).lookup(name) is holder:
            yield call

"""Names inside the body of a function that is put in another place, or in which names are changed."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from migrator.analyse.statements.names import binds
from migrator.normalise.draft.returns import own_nodes
from migrator.resolve.syntax import children, walk


def binds_locally(statement: ast.stmt) -> set[str]:
    """Names that a statement gives a value, those of comprehensions and mutated objects left out."""
    found = {n.id for n in _own_scope(statement) if isinstance(n, ast.Name) and isinstance(n.ctx, (ast.Store, ast.Del))}
    plain = (ast.FunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom)
    for node in _own_scope(statement):
        if isinstance(node, plain):
            found |= binds(node)
        elif isinstance(node, ast.ExceptHandler) and node.name:
            found.add(node.name)
    return found


def _own_scope(node: ast.AST) -> Iterator[ast.AST]:
    yield node
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)):
        return
    if isinstance(node, (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
        return
    for child in children(node):
        yield from _own_scope(child)


def names_in(target: str | None) -> set[str]:
    """Names of the text of a target."""
    return {t.strip() for t in target.strip("()[]").split(",")} if target else set()


def is_dotted(node: ast.expr | None) -> bool:
    """Whether an expression is a name or an attribute of one."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name)


def first_reads(body: list[ast.stmt], name: str) -> list[ast.Name]:
    """The reads of ``x`` in ``x = f(x)``, where that is the first statement of `body` that speaks of it; else none."""
    for statement in body:
        found = [node for node in walk(statement) if isinstance(node, ast.Name) and node.id == name]
        if not found:
            continue
        target = statement.targets[0] if isinstance(statement, ast.Assign) and len(statement.targets) == 1 else None
        hidden = any(isinstance(node, (ast.Lambda, ast.JoinedStr)) for node in walk(statement))
        if not isinstance(target, ast.Name) or target.id != name or hidden:
            return []
        return [node for node in found if isinstance(node.ctx, ast.Load)]
    return []


def quoted(function: ast.FunctionDef, names: list[ast.Name]) -> bool:
    """Whether an f-string reads one of `names`: what it reads has no reliable place."""
    strings = [n for n in own_nodes(function.body) if isinstance(n, ast.JoinedStr)]
    return not {n for text in strings for n in walk(text)}.isdisjoint(names)


def straight_statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements that run once, in their order, whatever the conditions."""
    for statement in body:
        yield statement
        if isinstance(statement, ast.With):
            yield from straight_statements(statement.body)

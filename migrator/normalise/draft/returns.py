"""Functions whose returns stand at the ends of their ways, so that they can become assignments."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from migrator.resolve.syntax import children
from migrator.vocabulary.unsupported import Unsupported

_ROOMS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
_BLOCKS = ("body", "handlers", "orelse", "finalbody", "cases")
"""Fields with the statements of a statement, in source order."""


def own_returns(function: ast.FunctionDef) -> list[ast.Return]:
    """The returns of a function, without those of functions in it."""
    return list(_returns(function.body))


def sole_value(function: ast.FunctionDef) -> ast.expr | None:
    """What a function returns that does nothing else."""
    body = function.body[ast.get_docstring(function, clean=False) is not None :]
    return body[0].value if len(body) == 1 and isinstance(body[0], ast.Return) else None


def own_nodes(nodes: list[ast.stmt]) -> Iterator[ast.AST]:
    """All nodes of statements in source order, without what stands in functions and classes in them."""
    stack: list[ast.AST] = list(reversed(nodes))
    while stack:
        node = stack.pop()
        yield node
        if not isinstance(node, _ROOMS):
            stack.extend(reversed(children(node)))


def own_statements(nodes: list[ast.stmt]) -> Iterator[ast.stmt]:
    """All statements in source order, without what stands in functions and classes in them."""
    stack: list[ast.AST] = list(reversed(nodes))
    while stack:
        node = stack.pop()
        if isinstance(node, ast.stmt):
            yield node
        if not isinstance(node, _ROOMS):
            for block in reversed(_BLOCKS):
                stack += reversed(getattr(node, block, ()))


def _returns(nodes: Iterable[ast.AST]) -> Iterator[ast.Return]:
    for node in nodes:
        if isinstance(node, ast.Return):
            yield node
        elif not isinstance(node, _ROOMS):
            for block in _BLOCKS:
                yield from _returns(getattr(node, block, ()))


def has_return(nodes: list[ast.stmt]) -> bool:
    """Whether a return stands in the statements."""
    return any(_returns(nodes))


def terminates(nodes: list[ast.stmt]) -> bool:
    """Whether the end of the statements is never reached."""
    if not nodes:
        return False
    last = nodes[-1]
    if isinstance(last, (ast.Return, ast.Raise)):
        return True
    if isinstance(last, ast.If):
        return terminates(last.body) and terminates(last.orelse)
    return isinstance(last, ast.With) and terminates(last.body)


def check_structure(nodes: list[ast.stmt], last: bool = True) -> None:
    """Raise Unsupported unless every return is the last statement of its way, after ``else`` is put before what follows."""
    for index, node in enumerate(nodes):
        rest = nodes[index + 1 :]
        if isinstance(node, ast.Return):
            if not last or rest:
                raise Unsupported("a statement follows a return", node)
        elif has_return([node]):
            if isinstance(node, ast.With) and not rest:
                check_structure(node.body, last)
            elif isinstance(node, ast.If) and terminates(node.body):
                check_structure(node.body, last)
                check_structure([*node.orelse, *rest], last)
                return
            elif isinstance(node, ast.If) and node.orelse and terminates(node.orelse) and not has_return(node.body):
                check_structure(node.orelse, last)
                check_structure([*node.body, *rest], last)
                return
            else:
                raise Unsupported("a function that returns in the middle is not followed", node)

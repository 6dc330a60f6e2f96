"""What stands in the way of a program, without what only follows from something else that does."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from migrator.modelfn.errors import Unsupported
from migrator.module import Module
from migrator.syntax import walk


def independent(problem: Unsupported, modules: list[Module]) -> Iterator[Unsupported]:
    """`problem` itself, then those of its others that tell something new.

    A place inside of an obstacle, and an expression around one, may have been refused because the obstacle was left out.
    """
    yield problem
    known = [_subject(problem, modules)]
    said = {(problem.reason, _line(problem.node))}
    for other in problem.others:
        node = _subject(other, modules)
        if (other.reason, _line(other.node)) in said or any(_holds(k, node) or _holds(node, k) for k in known):
            continue
        said.add((other.reason, _line(other.node)))
        known.append(node)
        yield other


def _line(node: ast.AST | None) -> int:
    return getattr(node, "lineno", 0)


def _subject(problem: Unsupported, modules: list[Module]) -> ast.AST | None:
    """The whole call of an obstacle that is the name of a function."""
    node = problem.node
    for module in modules if isinstance(node, ast.expr) else ():
        parent = module.parent(node) if node is not None else None
        if isinstance(parent, ast.Call) and parent.func is node:
            return parent
    return node


def _holds(outer: ast.AST | None, inner: ast.AST | None) -> bool:
    return isinstance(outer, ast.expr) and inner is not None and any(node is inner for node in walk(outer))

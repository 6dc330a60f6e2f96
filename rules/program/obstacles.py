"""What stands in the way of a program, without what only follows from something else that does."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator

from migrator.analyse.function.errors import Unsupported
from migrator.resolve.module import Module
from migrator.resolve.syntax import walk
from migrator.vocabulary.diagnostics import Location

_PARTS_OF_A_MODEL_FN = re.compile(r"tf\.estimator\.(EstimatorSpec|export\.\w+Output) is not migrated yet")
"""What is said of them where a model_fn is not followed, which says so itself."""


def independent(
    problem: Unsupported, modules: list[Module], place: Callable[[ast.AST | None], Location]
) -> Iterator[Unsupported]:
    """`problem` itself, then those of its others that tell something new.

    A place inside of an obstacle, and an expression around one, may have been refused because the obstacle was left out.

    Args:
      problem: the first of all obstacles.
      modules: the files of the program.
      place: where an obstacle stands in the original: what many model_fns call, once for all.
    """
    yield problem
    known = [_subject(problem, modules)]
    said = {_said(problem, place)}
    for other in problem.others:
        node = _subject(other, modules)
        text = _said(other, place)
        consequence = _PARTS_OF_A_MODEL_FN.fullmatch(other.reason) is not None
        if consequence or text in said or any(_holds(k, node) or _holds(node, k) for k in known):
            continue
        said.add(text)
        known.append(node)
        yield other


def _said(problem: Unsupported, place: Callable[[ast.AST | None], Location]) -> tuple[str, str, int]:
    where = place(problem.node)
    return problem.reason, where.path, where.line


def _subject(problem: Unsupported, modules: list[Module]) -> ast.AST | None:
    """The whole call of an obstacle that is the name of a function."""
    node = problem.node
    for module in modules if isinstance(node, ast.expr) else ():
        parent = module.parent(node) if node is not None else None
        if isinstance(parent, ast.Call) and parent.func is node:
            return parent
    return node


def _holds(outer: ast.AST | None, inner: ast.AST | None) -> bool:
    return isinstance(outer, (ast.expr, ast.Expr)) and inner is not None and any(node is inner for node in walk(outer))

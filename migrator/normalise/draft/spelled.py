"""Statements that do what a call does, in its place."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

from migrator.normalise.draft.draft import Change
from migrator.resolve.module import Module
from migrator.rewrite import Insert, Replace, Statement, expr

_ONCE = (ast.Assign, ast.Return, ast.Expr)
_OFTEN = (
    ast.IfExp, ast.BoolOp, ast.Lambda, ast.NamedExpr, ast.comprehension,
    ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp,
)  # fmt: skip


def spelled(module: Module, call: ast.expr, wanted: str, make: Callable[[str], Sequence[Statement]]) -> list[Change]:
    """The edits that put statements in the place of an expression; none where it may not run exactly once with its statement.

    `make` gets the name that they give the value. The name is that of the assignment, or `wanted`: they then stand before
    the statement, and the name in the place of the call.
    """
    statement = module.statement(call)
    if module.indent(statement) is None or not isinstance(statement, _ONCE):
        return []
    for ancestor in module.ancestors(call):
        if ancestor is statement:
            break
        if isinstance(ancestor, _OFTEN):
            return []
    alone = isinstance(statement, ast.Assign) and statement.value is call and len(statement.targets) == 1
    target = statement.targets[0] if isinstance(statement, ast.Assign) and alone else None
    name = target.id if isinstance(target, ast.Name) else module.unused_name(wanted, call)
    if isinstance(target, ast.Name):
        return Change.of(module, Replace(statement, make(name)))
    return Change.of(module, Insert(make(name), before=statement), Replace(call, expr(name)))

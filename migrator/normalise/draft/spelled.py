"""Statements that do what a call does, in its place."""

from __future__ import annotations

import ast
from collections.abc import Callable

from migrator.normalise.draft.draft import Change
from migrator.resolve.module import Module

_ONCE = (ast.Assign, ast.Return, ast.Expr)
_OFTEN = (
    ast.IfExp, ast.BoolOp, ast.Lambda, ast.NamedExpr, ast.comprehension,
    ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp,
)  # fmt: skip


def spelled(module: Module, call: ast.expr, wanted: str, lines: Callable[[str, str], list[str]]) -> list[Change]:
    """The edits that put `lines` in the place of an expression; none where it may not run exactly once with its statement.

    `lines` get the name that they give the value, and one level of indentation. The name is that of the assignment, or
    `wanted`: the lines then stand before the statement, and the name in the place of the call.
    """
    statement = module.statement(call)
    indent = module.indent(statement)
    if indent is None or not isinstance(statement, _ONCE):
        return []
    for ancestor in module.ancestors(call):
        if ancestor is statement:
            break
        if isinstance(ancestor, _OFTEN):
            return []
    alone = isinstance(statement, ast.Assign) and statement.value is call and len(statement.targets) == 1
    target = statement.targets[0] if isinstance(statement, ast.Assign) and alone else None
    name = target.id if isinstance(target, ast.Name) else module.unused_name(wanted, call)
    text = f"{module.newline}{indent}".join(lines(name, "\t" if "\t" in indent else " " * 4))
    if isinstance(target, ast.Name):
        return [Change(module.edit(statement, text))]
    start = module.span(statement)[0]
    return [Change(module.insert(start, f"{text}{module.newline}{indent}")), Change(module.edit(call, name))]

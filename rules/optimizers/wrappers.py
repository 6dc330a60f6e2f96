"""Optimizers around optimizers that have nothing to do any more: what is inside stays."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Set

from migrator.resolve.module import Module
from migrator.resolve.syntax import walk
from migrator.rewrite import Remove, Replace
from migrator.vocabulary.diagnostics import Edit


def rebinding(module: Module, call: ast.Call, inner: ast.expr) -> ast.Assign | None:
    """The statement ``optimizer = Wrapper(optimizer)``, if the call of the wrapper stands in one."""
    statement = module.parent(call)
    if isinstance(statement, ast.Assign) and list(map(ast.unparse, statement.targets)) == [ast.unparse(inner)]:
        return statement
    return None


def unwrapped(module: Module, call: ast.Call, inner: ast.expr) -> list[Edit]:
    """Writes the argument `inner` of a call in its place."""
    return all_unwrapped(module, [(call, inner)])


def all_unwrapped(module: Module, calls: Iterable[tuple[ast.Call, ast.expr]]) -> list[Edit]:
    """Writes an argument in the place of each call."""
    statements = [(call, inner, rebinding(module, call, inner)) for call, inner in calls]
    gone = {statement for *_, statement in statements if statement is not None}
    removed = dict.fromkeys(_removed(module, statement, gone) for *_, statement in statements if statement is not None)
    replaced = [
        Replace(call, module.cst.expression(inner)) for call, inner, statement in statements if statement is None
    ]
    return module.cst.apply([*removed, *replaced])


def _removed(module: Module, statement: ast.stmt, gone: Set[ast.stmt]) -> Remove:
    """The removal of a statement, or of the ``if use_tpu:`` that holds nothing but such as go."""
    branch = module.parent(statement)
    if isinstance(branch, ast.If) and gone >= set(branch.body) and not branch.orelse:
        outer = module.parent(branch)
        elif_ = isinstance(outer, ast.If) and branch in outer.orelse
        if not elif_ and not any(isinstance(part, (ast.Call, ast.NamedExpr)) for part in walk(branch.test)):
            return Remove(branch)
    return Remove(statement)

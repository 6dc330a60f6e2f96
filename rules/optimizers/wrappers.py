"""Optimizers around optimizers that have nothing to do any more: what is inside stays."""

from __future__ import annotations

import ast

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
    statement = rebinding(module, call, inner)
    if statement is not None:
        return module.cst.apply([_deletion(module, statement)])
    return module.cst.apply([Replace(call, module.cst.expression(inner))])


def _deletion(module: Module, statement: ast.stmt) -> Remove:
    """Deletes a statement, and the ``if use_tpu:`` that holds nothing else."""
    branch = module.parent(statement)
    if isinstance(branch, ast.If) and branch.body == [statement] and not branch.orelse:
        outer = module.parent(branch)
        elif_ = isinstance(outer, ast.If) and branch in outer.orelse
        if not elif_ and not any(isinstance(part, (ast.Call, ast.NamedExpr)) for part in walk(branch.test)):
            return Remove(branch)
    return Remove(statement)

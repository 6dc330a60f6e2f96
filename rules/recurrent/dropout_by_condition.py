"""Recurrent cells of a nested function that are wrapped under a condition of the function around it.

    def make_cell():
        cell = LSTMCell(units)
        if training:
            cell = DropoutWrapper(cell, output_keep_prob=0.9)
        return cell

A wrapper that keeps all drops nothing. So this is ``cell = DropoutWrapper(cell, output_keep_prob=0.9 if training else 1.0)``,
which says in one place what only matters in training.
"""

from __future__ import annotations

import ast

from migrator.analyse.statements.names import wrapped_again
from migrator.normalise.draft.draft import Change
from migrator.resolve.module import Module

from .rnn import keep_probabilities


def spelled_out(module: Module, call: ast.Call) -> list[Change]:
    """The edit that moves the condition into the probabilities; none if `call` is no such wrapper."""
    keeps = keep_probabilities(call, module.resolve)
    statement = module.parent(call)
    condition = module.parent(statement) if isinstance(statement, ast.Assign) else None
    if not keeps or not isinstance(statement, ast.Assign) or not isinstance(condition, ast.If):
        return []
    if condition.body != [statement] or condition.orelse or wrapped_again(statement) is not call:
        return []
    functions = [node for node in module.ancestors(condition) if isinstance(node, ast.FunctionDef)]
    if len(functions) < 2 or not _is_from_outside(module, condition.test, functions[0]):
        return []
    test, start = module.segment(condition.test), module.span(statement)[0]
    text = module.source[start : module.span(statement)[1]]
    for keep in sorted(keeps, key=lambda node: module.span(node)[0], reverse=True):
        first, last = (at - start for at in module.span(keep))
        value = module.segment(keep)
        value = f"({value})" if isinstance(keep, (ast.IfExp, ast.Lambda)) else value
        text = text[:first] + f"{value} if {test} else 1.0".encode() + text[last:]
    return [Change(module.edit(condition, text.decode()))]


def _is_from_outside(module: Module, test: ast.expr, function: ast.FunctionDef) -> bool:
    """Whether a condition is a name that a function around `function` binds."""
    scope = module.scope(test).lookup(test.id) if isinstance(test, ast.Name) else None
    return scope is not None and isinstance(scope.node, ast.FunctionDef) and scope.node is not function

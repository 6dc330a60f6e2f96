"""Names that hold functions which say what a SavedModel is fed."""

from __future__ import annotations

import ast

from migrator.resolve.module import Module

from ..estimator_calls.estimator_values import PREFIX
from ..estimator_calls.exporters import EXPORTERS, EXPORTS
from ..loop.places import has_its_line, moves


def goes(module: Module, statement: ast.Assign, node: ast.expr, call: ast.Call, value: ast.expr) -> bool:
    """Whether the value in a statement may be written where its name is read."""
    assert isinstance(node, ast.Name)
    alone = module.loads_of(node.id, module.scope(node).lookup(node.id)) == [node]
    return alone and has_its_line(module, statement) and moves(module, statement, call, [value])


def stays(module: Module, node: ast.expr, call: ast.Call) -> bool:
    """Whether exporters and exports alone read a name, so that it may stand for something else where `call` trains or exports."""
    statement = module.assignment(node)
    if not isinstance(node, ast.Name) or statement is None or not has_its_line(module, statement):
        return False
    scope = module.scope(node).lookup(node.id)
    for load in module.loads_of(node.id, scope):
        outer = module.parent(load)
        made = module.parent(outer) if isinstance(outer, ast.keyword) else outer
        if not isinstance(made, ast.Call) or not _exports(module, made.func):
            return False
    return module.scope(call).lookup(node.id) is scope


def _exports(module: Module, function: ast.expr) -> bool:
    """Whether a function is an exporter, or the method that exports an Estimator."""
    name = module.resolve(function) or ""
    if isinstance(function, ast.Attribute) and not name:
        return function.attr in EXPORTS
    return name.startswith(PREFIX) and name[len(PREFIX) :] in EXPORTERS

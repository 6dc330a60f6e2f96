"""Functions of one name that a module defines again, as cells of notebooks do that are run one after another."""

from __future__ import annotations

import ast
from collections.abc import Callable

from migrator.resolve.module import Module


def _never(module: Module, function: ast.Lambda, last: bool) -> bool:
    return False


def defined_above(
    module: Module, node: ast.expr, runs_at_once: Callable[[Module, ast.Lambda, bool], bool] = _never
) -> ast.FunctionDef | None:
    """Of several functions of one name, that which a statement of the module's own reads: the last one above it.

    `runs_at_once` says of a lambda around the name whether it runs with the statement; it is told whether no other function
    of the name follows.
    """
    found = [binding.node for binding in module.bindings(node)] if isinstance(node, ast.Name) else []
    plain = [
        f for f in found if isinstance(f, ast.FunctionDef) and not f.decorator_list and module.parent(f) is module.tree
    ]
    statement = module.statement(node)
    if len(found) < 2 or len(plain) < len(found) or module.parent(statement) is not module.tree:
        return None
    above = [function for function in plain if function.lineno < statement.lineno]
    for ancestor in module.ancestors(node):
        if ancestor is statement:
            break
        if isinstance(ancestor, ast.Lambda) and not runs_at_once(module, ancestor, len(above) == len(plain)):
            return None
    return max(above, key=lambda function: function.lineno, default=None)

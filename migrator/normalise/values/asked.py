"""Values that are asked to be something before they are used."""

from __future__ import annotations

import ast

from migrator.resolve.module import Module


def is_something(module: Module, value: ast.expr) -> bool:
    """Whether a value is not None where it is read: ``if n: config["save_checkpoints_steps"] = n``, ``n if n else 1000``."""
    test, around = None, module.parent(value)
    if isinstance(around, ast.IfExp):
        test = around.test if around.body is value else None
    else:
        statement = module.statement(value)
        outer = module.parent(statement)
        test = outer.test if isinstance(outer, ast.If) and statement in outer.body else None
    asked = test.left if isinstance(test, ast.Compare) else test
    if isinstance(test, ast.Compare) and not isinstance(test.ops[0], (ast.Gt, ast.GtE, ast.IsNot)):
        return False
    return asked is not None and ast.dump(asked) == ast.dump(value)

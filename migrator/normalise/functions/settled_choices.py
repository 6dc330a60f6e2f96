"""A function that is given or left out by ``or``, where it is known which."""

from __future__ import annotations

import ast
import functools

from migrator.normalise.desugaring import Desugaring
from migrator.normalise.draft.draft import Change, Drafts
from migrator.resolve.module import Module
from migrator.rewrite import Replace, expr


@Desugaring
def expand(drafts: Drafts, module: Module, function: ast.FunctionDef) -> list[Change]:
    """``own or every`` is `own` where that is a function, and `every` where it is None.

    ```python
    def train(every):
        keep = None or every
        return [v for v in weights() if keep(v.name)]
    ```
    becomes
    ```python
    def train(every):
        keep = every
        return [v for v in weights() if keep(v.name)]
    ```
    """
    return next(filter(None, (_settled(module, statement) for statement in function.body)), [])


def _settled(module: Module, statement: ast.stmt) -> list[Change]:
    value = statement.value if isinstance(statement, ast.Assign) else None
    if not isinstance(value, ast.BoolOp) or not isinstance(value.op, ast.Or):
        return []
    first, *rest = value.values
    if isinstance(first, ast.Constant) and first.value is None:
        others = [module.cst.expression(one) for one in rest]
        settled = functools.reduce(lambda one, other: expr("{one} or {other}", one=one, other=other), others)
        return Change.of(module, Replace(value, settled))
    bound = [binding.node for binding in module.bindings(first)] if isinstance(first, ast.Name) else []
    if len(bound) == 1 and isinstance(bound[0], ast.FunctionDef):
        return Change.of(module, Replace(value, module.cst.expression(first)))
    return []

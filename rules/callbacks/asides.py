"""What hooks of a model_fn are made from, written in the code that trains: its parameters, and names around it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from migrator.analyse.function.plan import Plan
from migrator.analyse.function.translate import is_none
from migrator.resolve.module import Module
from migrator.resolve.syntax import walk

from ..loop.settings import is_same
from ..loop.sources import Source
from .model_hooks import ModelHooks

Asides = dict[ast.AST, ast.expr]
"""Parts of such expressions, and what takes their places."""
_DEEP = 4


def asides_of(source: Source, hooks: ModelHooks, module: Module, call: ast.Call) -> Asides | None:
    """How a use of an Estimator writes what its hooks are made from; None if it cannot."""
    plan = hooks.plan
    if plan is None:
        return {}
    if plan.module is not module or source.module is not module:
        return None
    found: Asides = {}
    told = all(_place(plan, source, call, part, found, 0) for part in hooks.parts)
    return found if told else None


def _place(plan: Plan, source: Source, call: ast.Call, node: ast.expr, found: Asides, deep: int) -> bool:
    """Whether an expression can be written at a call; what takes the place of a part of it is added to `found`."""
    module = plan.module
    if deep > _DEEP:
        return False
    for outer, name in _names(module, node):
        scope = module.scope(name).lookup(name.id)
        if scope is None or scope.kind == "module":
            if not is_same(module, name, call) and scope is not None:
                return False
            continue
        if scope.node is not plan.function or len(module.bindings(name)) != 1:
            return False
        if isinstance(module.bindings(name)[0].node, ast.arg):
            if name.id != "params" or not _given(source, call, outer, name, found):
                return False
            continue
        statement = module.assignment(name)
        if statement is None or not _place(plan, source, call, statement.value, found, deep + 1):
            return False
        found[name] = statement.value
    return not any(isinstance(part, (ast.Lambda, ast.NamedExpr, ast.Await)) for part in walk(node))


def _names(module: Module, node: ast.expr) -> Iterator[tuple[ast.AST | None, ast.Name]]:
    """The names that an expression reads, with what stands around each."""
    for part in walk(node):
        if isinstance(part, ast.Name):
            yield module.parent(part), part


def _given(source: Source, call: ast.Call, outer: ast.AST | None, name: ast.Name, found: Asides) -> bool:
    """Whether what an Estimator is given as params can be read where it trains."""
    module, params = source.module, source.construction.arguments.get("params")
    if params is None or is_none(params):
        return False
    statement = module.assignment(params) if isinstance(params, ast.Name) else None
    value = params if statement is None else statement.value
    if isinstance(params, (ast.Name, ast.Attribute)) and is_same(module, params, call):
        found[name] = params
        return True
    if not isinstance(value, ast.Dict) or not isinstance(outer, ast.Subscript) or outer.value is not name:
        return False
    for key, entry in zip(value.keys, value.values):
        if key is not None and isinstance(key, ast.Constant) and ast.dump(key) == ast.dump(outer.slice):
            found[outer] = entry
            return isinstance(entry, ast.Constant) or is_same(module, entry, call)
    return False

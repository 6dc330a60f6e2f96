"""Names for functions with arguments filled in (`functools.partial`, a lambda): their calls are written out."""

from __future__ import annotations

import ast

from migrator import rewrite
from migrator.normalise.draft.draft import Change
from migrator.normalise.draft.stuck import Stuck
from migrator.resolve.module import Module
from migrator.resolve.syntax import walk
from migrator.rewrite import Remove, Replace, with_arguments

PARTIAL = "functools.partial"
_FIXED = (ast.Constant, ast.Name, ast.Attribute, ast.Tuple, ast.List, ast.UnaryOp, ast.BinOp, ast.keyword)
_CONTEXTS = (ast.Load, ast.operator, ast.unaryop)
# What TF1 keeps of these is how they were made: another one with the same arguments is as good.
_MAKERS = ("initializer", "regularizer", "constraint")


def filled_in(module: Module, call: ast.Call) -> ast.Call | None:
    """The ``functools.partial(…)`` that the called name stands for."""
    statement = module.assignment(call.func)
    value = statement.value if statement is not None else None
    if isinstance(value, ast.Call) and module.resolve(value.func) == PARTIAL and value.args:
        return value
    return None


def written_out(module: Module, call: ast.Call, partial: ast.Call) -> list[Change]:
    """``conv(x, 8)`` becomes ``tf.layers.conv2d(x, 8, padding="same")``. Raises Stuck."""
    assert isinstance(call.func, ast.Name)
    function, *values = partial.args
    if any(isinstance(value, ast.Starred) for value in values) or any(k.arg is None for k in partial.keywords):
        raise Stuck("a partial function with * or ** is not followed", partial)
    own = {keyword.arg for keyword in call.keywords}
    if None in own:
        raise Stuck(f"`{call.func.id}` is called with **", call)
    for part in (function, *values, *(keyword.value for keyword in partial.keywords)):
        _check_lasting(module, part, call)
    file = module.cst
    extra = {k.arg: file.expression(k.value) for k in partial.keywords if k.arg is not None and k.arg not in own}
    first = {0: [file.expression(value) for value in values]}
    new = with_arguments(file.call(call), insert=first, add=extra)
    changes: list[rewrite.Change] = [Replace(call.func, file.expression(function)), Replace(call, new)]
    statement = module.statement(partial)
    scope = module.scope(call.func).lookup(call.func.id)
    if module.loads_of(call.func.id, scope) == [call.func]:
        changes.append(Remove(statement))
        changes += idle_import(module, partial.func)
    return Change.every((module, change) for change in changes)


def idle_import(module: Module, function: ast.expr) -> list[rewrite.Change]:
    """Removes the import of a library if nothing but this call used it."""
    root = function.value if isinstance(function, ast.Attribute) else function
    for entry in module.imports:
        single = len(getattr(entry.statement, "names", ())) == 1
        if single and isinstance(root, ast.Name) and entry.name == root.id and module.loads(root.id) == [root]:
            return [Remove(entry.statement)]
    return []


def _check_lasting(module: Module, value: ast.expr, call: ast.Call) -> None:
    """Refuse a value that may be another one when the function is called."""
    for node in walk(value):
        if isinstance(node, ast.Call):
            name = module.resolve(node.func) or ""
            if not name.lower().endswith(_MAKERS):
                raise Stuck("a partial function with a computed argument is not followed", node)
        elif not isinstance(node, (*_FIXED, *_CONTEXTS)):
            raise Stuck("a partial function with a computed argument is not followed", value)
        elif isinstance(node, ast.Name):
            found = module.bindings(node)
            here = module.scope(call).lookup(node.id)
            if len(found) > 1 or here is not module.scope(node).lookup(node.id):
                raise Stuck(f"`{node.id}`, which a partial function holds, may have another value later", node)

"""Parameters that take a size from the shape of a tensor where no call gives them one: that size gets a name of its own."""

from __future__ import annotations

import ast

from migrator.normalise.desugaring import Desugaring
from migrator.normalise.draft.arguments import parameters
from migrator.normalise.draft.draft import Change, Drafts
from migrator.normalise.draft.local_names import quoted, straight_statements
from migrator.resolve.module import Module
from migrator.resolve.syntax import place_of, target_name, walk
from migrator.rewrite import Replace, expr, statements

_SHAPES = frozenset({"shape", "get_shape"})
_PLAIN = frozenset({"get_shape", "as_list", "int", "len", "max", "min"})


@Desugaring
def expand(drafts: Drafts, module: Module, function: ast.FunctionDef) -> list[Change]:
    """The changes for one such parameter; none if there is no more.

    ```python
    import tensorflow as tf


    def attention(x, units=None):
        if units is None:
            units = x.get_shape().as_list()[-1]
        return tf.layers.dense(x, units)
    ```
    becomes
    ```python
    import tensorflow as tf


    def attention(x, units=None):
        units_ = x.get_shape().as_list()[-1] if units is None else units
        return tf.layers.dense(x, units_)
    ```
    """
    own = set(parameters(function))
    for statement in straight_statements(function.body):
        made = _assigned(statement)
        name = target_name(made) if made is not None else None
        if made is None or name not in own or not _is_size(module, made.value):
            continue
        found = [n for n in walk(function) if isinstance(n, ast.Name) and n.id == name]
        stores = [n for n in found if not isinstance(n.ctx, ast.Load)]
        test = statement.test if isinstance(statement, ast.If) else made.value
        read = any(isinstance(n, ast.Name) and n.id == name for n in walk(test))
        below = [n for n in found if place_of(n) > _end(statement)]
        inner = any(module.scope(n) is not module.scope(function.body[0]) for n in found)
        if len(stores) > 1 or not read or not below or inner or quoted(function, below):
            continue
        new = module.unused_name(f"{name}_", function.body[0])
        value = module.cst.expression(made.value)
        if isinstance(statement, ast.If):
            value = expr("{value} if {test} else {name}", value=value, test=module.cst.expression(test), name=name)
        drafts.rename(new, name)
        written = Replace(statement, statements("{new} = {value}", new=new, value=value))
        return Change.of(module, written, *(Replace(n, new) for n in below))
    return []


def _assigned(statement: ast.stmt) -> ast.Assign | None:
    """The assignment that a statement is, or all of what it does under a condition."""
    if isinstance(statement, ast.If):
        statement = statement.body[0] if len(statement.body) == 1 and not statement.orelse else statement
    return statement if isinstance(statement, ast.Assign) else None


def _end(statement: ast.stmt) -> tuple[int, int]:
    return statement.end_lineno or statement.lineno, statement.end_col_offset or 0


def _is_size(module: Module, value: ast.expr) -> bool:
    """Whether a value is a number that is read of the shape of a tensor, and of nothing else of it."""
    nodes = walk(value)
    calls = [n.func for n in nodes if isinstance(n, ast.Call)]
    names = {call.attr if isinstance(call, ast.Attribute) else getattr(call, "id", "") for call in calls}
    asked = any(isinstance(n, ast.Attribute) and n.attr in _SHAPES for n in nodes)
    taken = any(isinstance(n, ast.Subscript) for n in nodes)
    return asked and taken and names <= _PLAIN and not any(module.resolve(call) for call in calls)

"""Steps of optimizers in lists, and amid what waits for them, get names, by which native follows what each of them does."""

from __future__ import annotations

import ast
import re

from migrator.normalise.desugaring import Desugaring
from migrator.normalise.draft.draft import Change, Drafts
from migrator.resolve.module import Module
from migrator.rewrite import Insert, Replace, expr, statements

from .conditional_steps import STEPS, trains

_HOLDERS = (ast.List, ast.Tuple, ast.Starred)
_STATEMENTS = (ast.Assign, ast.AugAssign, ast.Return, ast.Expr, ast.With)


@Desugaring
def expand(drafts: Drafts, module: Module, call: ast.Call) -> list[Change]:
    """The changes that give such a step a name; none for other calls, and for steps that have one.

    ```python
    import tensorflow as tf


    def train_op(loss, wide, deep):
        train_ops = [
            tf.train.FtrlOptimizer(0.1).minimize(loss, var_list=wide),
            tf.train.AdamOptimizer(0.01).minimize(loss, var_list=deep),
        ]
        with tf.control_dependencies(train_ops):
            return tf.assign_add(tf.train.get_global_step(), 1)
    ```
    becomes
    ```python
    import tensorflow as tf


    def train_op(loss, wide, deep):
        ftrl_op = tf.train.FtrlOptimizer(0.1).minimize(loss, var_list=wide)
        adam_op = tf.train.AdamOptimizer(0.01).minimize(loss, var_list=deep)
        train_ops = [
            ftrl_op,
            adam_op,
        ]
        with tf.control_dependencies(train_ops):
            return tf.assign_add(tf.train.get_global_step(), 1)
    ```
    """
    holder = module.parent(call)
    if not isinstance(holder, _HOLDERS) or not trains(drafts.project, module, call):
        return []
    statement = module.statement(call)
    if (
        not isinstance(statement, _STATEMENTS)
        or module.indent(statement) is None
        or _is_repeated(module, call, statement)
    ):
        return []
    name = module.unused_name(_step_name(module, call), call)
    made = statements("{name} = {call}", name=name, call=module.cst.expression(call))
    return Change.of(module, Insert(made, before=statement), Replace(call, expr(name)))


def _is_repeated(module: Module, call: ast.Call, statement: ast.stmt) -> bool:
    """Whether something inside of a statement may run a call not once, or after the statement has begun to do something."""
    inner: ast.AST = call
    for outer in module.ancestors(call):
        if outer is statement:
            return isinstance(outer, ast.With) and inner is not outer.items[0]
        if not isinstance(outer, (*_HOLDERS, ast.Call, ast.keyword, ast.withitem, ast.BinOp)):
            return True
        inner = outer
    return True


def _step_name(module: Module, call: ast.Call) -> str:
    """``deep_op`` of ``deep_optimizer.minimize(…)``, ``adam_op`` of ``tf.train.AdamOptimizer(0.1).minimize(…)``."""
    held = call.func.value if isinstance(call.func, ast.Attribute) and call.func.attr in STEPS else None
    held = held.func if isinstance(held, ast.Call) else held
    word = held.attr if isinstance(held, ast.Attribute) else held.id if isinstance(held, ast.Name) else ""
    word = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", word).lower()
    word = re.sub(r"_?(optimizer|optim|opt|trainer)s?$", "", word).strip("_")
    return f"{word}_op" if word else "step_op"

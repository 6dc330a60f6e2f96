"""Shapes that a model_fn sets on a tensor: what follows is given a tensor that has them."""

from __future__ import annotations

import ast

from migrator.normalise.desugaring import Desugaring
from migrator.normalise.draft.draft import Change, Drafts
from migrator.normalise.draft.returns import own_statements
from migrator.resolve.module import Module
from migrator.rewrite import Replace, statements

from ..symbols.tensorflow_names import whole_name


@Desugaring
def expand(drafts: Drafts, module: Module, function: ast.FunctionDef) -> list[Change]:
    """The changes for one such shape; none if there is no more.

    ```python
    import tensorflow as tf


    def network(x):
        x.set_shape([None, 3])
        return tf.layers.dense(x, 1)
    ```
    becomes
    ```python
    import tensorflow as tf


    def network(x):
        x = tf.ensure_shape(x, [None, 3])
        return tf.layers.dense(x, 1)
    ```
    """
    tf = whole_name(module)
    for statement in own_statements(function.body):
        call = statement.value if isinstance(statement, ast.Expr) else None
        set_on = call.func if isinstance(call, ast.Call) and len(call.args) == 1 and not call.keywords else None
        if not isinstance(set_on, ast.Attribute) or set_on.attr != "set_shape" or tf is None:
            continue
        assert isinstance(call, ast.Call)
        tensor, shape = set_on.value, call.args[0]
        if not isinstance(tensor, ast.Name) or not _is_own(module, function, tensor):
            continue
        file = module.cst
        new = statements(
            "{name} = {tf}.ensure_shape({name}, {shape})", name=tensor.id, tf=tf, shape=file.expression(shape)
        )
        return Change.of(module, Replace(statement, new))
    return []


def _is_own(module: Module, function: ast.FunctionDef, name: ast.Name) -> bool:
    """Whether a name is bound in the function that reads it, in no scope around or in it."""
    bound = [binding.node for binding in module.bindings(name)]
    return bool(bound) and all(
        node is not None and module.nearest(node, (ast.FunctionDef, ast.Lambda, ast.ClassDef)) is function
        for node in bound
    )

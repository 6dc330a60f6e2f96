"""Ops that a statement makes for their name alone: `tf.identity` gives the name to their value."""

from __future__ import annotations

import ast

from migrator.normalise.desugaring import Desugaring
from migrator.normalise.draft.draft import Change, Drafts
from migrator.resolve.module import Module
from migrator.resolve.syntax import walk
from migrator.rewrite import Replace, expr, with_arguments

from ..symbols.tensorflow_names import tensorflow_root

_PURE = frozenset(
    f"tensorflow.{name}"
    for name in (
        "reduce_mean reduce_sum reduce_max reduce_min add add_n subtract multiply divide argmax cast sqrt square abs norm "
        "global_norm squeeze reshape stack concat sigmoid exp math.reduce_mean math.reduce_sum math.reduce_max "
        "math.reduce_min math.add_n math.argmax linalg.norm linalg.global_norm nn.softmax nn.sigmoid nn.l2_loss"
    ).split()
)


@Desugaring
def expand(drafts: Drafts, module: Module, function: ast.FunctionDef) -> list[Change]:
    """The changes for one such statement; none if there is no more.

    ```python
    import tensorflow as tf


    def network(x):
        tf.reduce_mean(tf.norm(x, axis=1), name="norm_of_features")
        return tf.layers.dense(x, 2)
    ```
    becomes
    ```python
    import tensorflow as tf


    def network(x):
        tf.identity(tf.reduce_mean(tf.norm(x, axis=1)), name="norm_of_features")
        return tf.layers.dense(x, 2)
    ```
    """
    for node in walk(function):
        call = node.value if isinstance(node, ast.Expr) else None
        if not isinstance(call, ast.Call) or module.resolve(call.func) not in _PURE:
            continue
        name = next((keyword.value for keyword in call.keywords if keyword.arg == "name"), None)
        root = tensorflow_root(module, call.func)
        if name is None or root is None or root[1]:
            continue
        file = module.cst
        made = with_arguments(file.call(call), drop=["name"])
        new = expr("{tf}.identity({made}, name={name})", tf=root[0], made=made, name=file.expression(name))
        return Change.of(module, Replace(call, new))
    return []

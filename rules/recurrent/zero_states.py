"""``cell.zero_state(batch_size, dtype)``, which cells of Keras do not have, as a function of the cell."""

from __future__ import annotations

import ast

from migrator.normalise.desugaring import Desugaring
from migrator.normalise.draft.draft import Change, Drafts
from migrator.resolve.module import Module
from migrator.rewrite import Replace, expr

from ..symbols.tensorflow_names import whole_name


@Desugaring
def expand(drafts: Drafts, module: Module, call: ast.Call) -> list[Change]:
    """The call of the function for that of the method; none for other calls.

    ```python
    import tensorflow as tf


    def start(cell, x):
        return cell.zero_state(tf.shape(x)[0], tf.float32)
    ```
    becomes
    ```python
    import tensorflow as tf


    def start(cell, x):
        return tf.nn.rnn_cell.zero_state(cell, tf.shape(x)[0], tf.float32)
    ```
    """
    root, function = whole_name(module), call.func
    if not isinstance(function, ast.Attribute) or function.attr != "zero_state" or root is None:
        return []
    if module.resolve(function) is not None or not call.args or any(isinstance(a, ast.Starred) for a in call.args):
        return []
    given = {f"v{i}": module.cst.expression(value) for i, value in enumerate([function.value, *call.args])}
    given |= {f"k{i}": module.cst.expression(keyword.value) for i, keyword in enumerate(call.keywords)}
    if any(keyword.arg not in ("batch_size", "dtype") for keyword in call.keywords):
        return []
    told = ", ".join(f"{{{hole}}}" for hole in given)
    return Change.of(module, Replace(call, expr(f"{root}.nn.rnn_cell.zero_state({told})", **given)))

"""`tf.nn.xw_plus_b` and `tf.nn.relu_layer` inside a model_fn: the product and the sum written out, as TensorFlow has them."""

from __future__ import annotations

import ast

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.function.translate import Expression, Writing, bind


def _sum(call: ast.Call, writing: Writing, what: str) -> str:
    given = bind(call, "x weights biases name", what)
    if not {"x", "weights", "biases"} <= set(given):
        raise Unsupported(f"{what} without x, weights or biases", call)
    x, weights, biases = (writing.text(given[name]) for name in ("x", "weights", "biases"))
    return f"{writing.tf}.nn.bias_add({writing.tf}.matmul({x}, {weights}), {biases})"


def xw_plus_b(call: ast.Call, writing: Writing) -> str:
    """``x @ weights + biases``; all are of rank 2, 2 and 1."""
    return _sum(call, writing, "tf.nn.xw_plus_b")


def relu_layer(call: ast.Call, writing: Writing) -> str:
    """The same, and what is negative is 0."""
    return f"{writing.tf}.nn.relu({_sum(call, writing, 'tf.nn.relu_layer')})"


EXPRESSIONS: dict[str, Expression] = {
    "tensorflow.nn.xw_plus_b": xw_plus_b,
    "tensorflow.nn.relu_layer": relu_layer,
}

"""`tf.feature_column.input_layer` and `linear_model` inside a model_fn: layers on columns, which TensorFlow 2 still has.

Keras keeps `DenseFeatures` out of Keras 3; with Keras 2 it computes the same, columns in the order of their names.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import replace

from migrator.modelfn.errors import Unsupported
from migrator.modelfn.translate import Layer, Value, bind, is_none

_INPUT_LAYER = "features feature_columns weight_collections trainable cols_to_vars cols_to_output_tensors"
_LINEAR_MODEL = "features feature_columns units sparse_combiner weight_collections trainable cols_to_vars"
_REFUSED = ("weight_collections", "cols_to_vars", "cols_to_output_tensors")
Resolve = Callable[[ast.expr], "str | None"]


def _columns(call: ast.Call, signature: str, what: str) -> dict[str, ast.expr]:
    given = bind(call, signature, what)
    for name in _REFUSED:
        if not is_none(given.get(name)):
            raise Unsupported(f"`{name}` of {what} is not migrated yet", given[name])
    for name in ("features", "feature_columns"):
        if name not in given:
            raise Unsupported(f"{what} without `{name}`", call)
    return given


def input_layer(call: ast.Call, name: str, resolve: Resolve) -> Layer:
    """The columns side by side."""
    given = _columns(call, _INPUT_LAYER, "tf.feature_column.input_layer")
    arguments: list[tuple[str | None, Value]] = [(None, given["feature_columns"])]
    if "trainable" in given:
        arguments.append(("trainable", given["trainable"]))
    inputs = ((None, given["features"]),)
    return Layer("tf.keras.layers.DenseFeatures", tuple(arguments), inputs, "input_layer")


def linear_model(call: ast.Call, name: str, resolve: Resolve) -> Layer:
    """A weighted sum of the columns."""
    given = _columns(call, _LINEAR_MODEL, "tf.feature_column.linear_model")
    trainable = given.get("trainable")
    if trainable is not None and not (isinstance(trainable, ast.Constant) and trainable.value is True):
        raise Unsupported("`trainable` of tf.feature_column.linear_model is not migrated yet", trainable)
    arguments: list[tuple[str | None, Value]] = [(None, given["feature_columns"])]
    arguments += [(key, given[key]) for key in ("units", "sparse_combiner") if key in given]
    return Layer("LinearFeatures", tuple(arguments), ((None, given["features"]),), "linear_model", vendored=True)


def _on_columns(rule: Callable[..., Layer]) -> Callable[..., Layer]:
    """The same layer on columns of `preprocessing_columns`."""

    def layer(call: ast.Call, name: str, resolve: Resolve) -> Layer:
        made = rule(call, name, resolve)
        vendored_class = "LinearColumns" if made.vendored else "DenseFeatures"
        return replace(made, constructor=vendored_class, vendored=True)

    return layer


LAYERS = {
    "tensorflow.feature_column.input_layer": input_layer,
    "tensorflow.feature_column.linear_model": linear_model,
}
PREPROCESSED = {name: _on_columns(rule) for name, rule in LAYERS.items()}
"""The same with ``--features preprocessing``."""

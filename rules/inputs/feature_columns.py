"""`tf.feature_column.input_layer` and `linear_model` inside a model_fn: layers on columns, which TensorFlow 2 still has.
And columns that share a table, which it has in graphs alone.

Keras 3 has no layers for columns, which TensorFlow 2 keeps: those of the program are read by layers that need no more than these.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.function.translate import Layer, Value, bind, is_none

if TYPE_CHECKING:
    from ..estimator_calls.driver import Driver

_INPUT_LAYER = "features feature_columns weight_collections trainable cols_to_vars cols_to_output_tensors"
_LINEAR_MODEL = "features feature_columns units sparse_combiner weight_collections trainable cols_to_vars"
_SEQUENCE_INPUT_LAYER = "features feature_columns weight_collections trainable"
SHARED_SIGNATURE = (
    "categorical_columns dimension combiner initializer shared_embedding_collection_name ckpt_to_load_from "
    "tensor_name_in_ckpt max_norm trainable use_safe_embedding_lookup"
)
_SHARED_KEPT = [
    n for n in SHARED_SIGNATURE.split() if not n.endswith(("_ckpt", "_load_from", "_safe_embedding_lookup"))
]
_EMBEDDINGS = ("embedding_weights",)
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
    return Layer("InputFeatures", tuple(arguments), inputs, "input_layer", columns=_EMBEDDINGS, vendored=True)


def linear_model(call: ast.Call, name: str, resolve: Resolve) -> Layer:
    """A weighted sum of the columns."""
    given = _columns(call, _LINEAR_MODEL, "tf.feature_column.linear_model")
    trainable = given.get("trainable")
    if trainable is not None and not (isinstance(trainable, ast.Constant) and trainable.value is True):
        raise Unsupported("`trainable` of tf.feature_column.linear_model is not migrated yet", trainable)
    arguments: list[tuple[str | None, Value]] = [(None, given["feature_columns"])]
    arguments += [(key, given[key]) for key in ("units", "sparse_combiner") if key in given]
    inputs = ((None, given["features"]),)
    return Layer(
        "LinearFeatures", tuple(arguments), inputs, "linear_model", columns=("weights", "bias_weights"), vendored=True
    )


def sequence_input_layer(call: ast.Call, name: str, resolve: Resolve) -> Layer:
    """The columns of sequences side by side, and the lengths of the sequences."""
    given = _columns(call, _SEQUENCE_INPUT_LAYER, "tf.contrib.feature_column.sequence_input_layer")
    arguments: list[tuple[str | None, Value]] = [(None, given["feature_columns"])]
    if "trainable" in given:
        arguments.append(("trainable", given["trainable"]))
    inputs = ((None, given["features"]),)
    return Layer(
        "SequenceInputFeatures", tuple(arguments), inputs, "sequence_input_layer", columns=_EMBEDDINGS, vendored=True
    )


_PREPROCESSING = {
    "InputFeatures": "DenseFeatures",
    "LinearFeatures": "LinearColumns",
    "SequenceInputFeatures": "SequenceFeatures",
}


def _on_columns(rule: Callable[..., Layer]) -> Callable[..., Layer]:
    """The same layer on columns of `preprocessing_columns`."""

    def layer(call: ast.Call, name: str, resolve: Resolve) -> Layer:
        made = rule(call, name, resolve)
        return replace(made, constructor=_PREPROCESSING[made.constructor])

    return layer


SHARED = frozenset(f"tensorflow.feature_column.{name}" for name in ("shared_embedding_columns", "shared_embeddings"))
LAYERS = {
    "tensorflow.feature_column.input_layer": input_layer,
    "tensorflow.feature_column.linear_model": linear_model,
}
SEQUENCES = {"tensorflow.contrib.feature_column.sequence_input_layer": sequence_input_layer}
PREPROCESSED = {name: _on_columns(rule) for name, rule in {**LAYERS, **SEQUENCES}.items()}
"""The same with ``--features preprocessing``."""
SEQUENCE_COLUMNS = tuple(f"tensorflow.contrib.feature_column.sequence_{kind}" for kind in ("categorical", "numeric"))
"""What names of columns of sequences start with that are found elsewhere today."""


def shared_columns(driver: Driver, node: ast.expr, name: str, trained: bool) -> None:
    """Migrate a reference to what makes columns of canned Estimators with one table, if it is one.

    Those of TensorFlow 2 do not count the table with their variables, so that it stays as it starts. Raises Unsupported.
    """
    if name not in SHARED:
        return
    call, what = driver.module.parent(node), name.replace("tensorflow", "tf", 1)
    if not trained:
        raise Unsupported(
            f"canned Estimators of TensorFlow 2 never train what {what} makes; use embedding_column", node
        )
    if not isinstance(call, ast.Call) or call.func is not node:
        raise Unsupported(f"{what} is handed on without a call", node)
    driver.arguments(call, SHARED_SIGNATURE, _SHARED_KEPT, what, {"use_safe_embedding_lookup": (True,)})
    driver.replace(node, driver.need("shared_embedding_columns", node))

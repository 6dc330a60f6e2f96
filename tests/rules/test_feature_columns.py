"""`input_layer` and `linear_model` in a model_fn."""

from __future__ import annotations

import pytest
from modelfn.programs import manual_reason, method, migrate, model_fn


@pytest.mark.parametrize(
    ("old", "made", "used"),
    [
        (
            'input_layer(features, params["columns"])',
            'tf.keras.layers.DenseFeatures(params["columns"])',
            "self.predictions(features)",
        ),
        (
            'input_layer(feature_columns=params["columns"], features=features, trainable=False)',
            'tf.keras.layers.DenseFeatures(params["columns"], trainable=False)',
            "self.predictions(features)",
        ),
        (
            'linear_model(features, params["columns"])',
            'LinearFeatures(params["columns"])',
            "self.predictions(features)",
        ),
        (
            'linear_model(features, params["columns"], 2, "mean")',
            'LinearFeatures(params["columns"], units=2, sparse_combiner="mean")',
            "self.predictions(features)",
        ),
    ],
)
def test_layers_on_columns(old: str, made: str, used: str) -> None:
    text = migrate(model_fn(f"predictions = tf.feature_column.{old}"))
    assert made in method(text, "__init__") and used in method(text, "call")


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        ('input_layer(features, params["c"], cols_to_vars=V)', "`cols_to_vars` of tf.feature_column.input_layer"),
        ('linear_model(features, params["c"], trainable=False)', "`trainable` of tf.feature_column.linear_model"),
        ("input_layer(features)", "without `feature_columns`"),
        ("input_layer(*features)", "hidden behind * or **"),
    ],
)
def test_refused(call: str, reason: str) -> None:
    assert reason in manual_reason(model_fn(f"predictions = tf.feature_column.{call}"))

"""Variables in double precision: Keras leaves what the model is given as it is."""

from __future__ import annotations

import pytest
from modelfn.programs import migrate, model_fn

BODY = """
    w = tf.get_variable("w", [1], dtype=tf.float64)
    predictions = w * features["x"]
"""
END = """
    loss = tf.reduce_sum(tf.square(predictions - labels))
    train_op = tf.train.GradientDescentOptimizer(0.01).minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, predictions=predictions, loss=loss, train_op=train_op)
"""


@pytest.mark.parametrize("kind", ["dtype=tf.float64", "tf.double", 'dtype="float64"', "dtype=np.float64"])
def test_what_a_model_is_given_is_not_cast(kind: str) -> None:
    text = migrate(
        model_fn(
            BODY.replace("dtype=tf.float64", kind), end=END, before="import numpy as np\nimport tensorflow as tf\n"
        )
    )
    assert "        super().__init__(autocast=False)\n" in text


@pytest.mark.parametrize("kind", ["dtype=tf.float32", "tf.float32", "initializer=tf.zeros_initializer()"])
def test_other_models_are_made_as_they_were(kind: str) -> None:
    text = migrate(model_fn(BODY.replace("dtype=tf.float64", kind), end=END))
    assert "        super().__init__()\n" in text and "autocast" not in text


def test_a_layer_of_a_helper_and_its_model() -> None:
    helper = """
        import tensorflow as tf


        def scaled(x):
            w = tf.get_variable("w", [1], dtype=tf.float64)
            return w * x
        """
    text = migrate(model_fn('predictions = scaled(features["x"])', end=END, before=helper))
    assert text.count("super().__init__(autocast=False)") == 2

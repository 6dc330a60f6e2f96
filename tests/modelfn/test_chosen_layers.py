"""Layers of one of two ways: those of the other one are no variables of the model."""

from __future__ import annotations

import pytest
from modelfn.programs import TRAIN_OP, manual_reason, method, migrate, model_fn

HELPERS = """
def cross(x):
    return tf.reduce_sum(x * tf.get_variable("w", [4]), 1, keepdims=True)


def deep(x):
    return tf.layers.dense(tf.layers.dense(x, 8, tf.nn.relu), 1)
"""
PENALTY = f"""
loss = tf.reduce_mean(tf.square(labels - predictions)) + tf.add_n([tf.nn.l2_loss(v) for v in tf.trainable_variables()])
{TRAIN_OP}
return tf.estimator.EstimatorSpec(mode, predictions=predictions, loss=loss, train_op=train_op)
"""


def program(body: str) -> str:
    return model_fn(body, before=HELPERS, end=PENALTY)


def test_one_of_two_helpers() -> None:
    text = migrate(program('predictions = cross(features["x"]) if params["kind"] == "cross" else deep(features["x"])'))
    init = method(text, "__init__", "Model")
    assert 'if params["kind"] == "cross":\n        self.cross = Cross()\n    else:\n        self.deep = Deep()' in init


def test_what_is_added() -> None:
    text = migrate(
        program('predictions = features["x"]\npredictions += deep(features["x"]) if params["deep"] else 0.0')
    )
    assert 'if params["deep"]:\n        self.deep = Deep()\n    ' in method(text, "__init__", "Model")


def test_layers_without_variables_stay() -> None:
    body = """
    net = features["x"]
    net = tf.layers.dropout(net, 0.5, training=mode == tf.estimator.ModeKeys.TRAIN) if params["drop"] else net
    predictions = deep(net)
    """
    assert 'if self.params["drop"] else net' in migrate(program(body))


@pytest.mark.parametrize(
    "value", ['1.0 + (cross(x) if params["cross"] else deep(x))', 'params["deep"] and deep(x)'], ids=["part", "and"]
)
def test_ways_inside_of_other_expressions_are_refused(value: str) -> None:
    assert "one arm of an expression" in manual_reason(program(f'x = features["x"]\npredictions = {value}'))

"""`repeat` and `stack` of `tf.contrib.layers`."""

from __future__ import annotations

import pytest
from modelfn.programs import manual_reason, migrate

PROGRAM = """import tensorflow as tf


def model_fn(features, labels, mode, params):
    x = features["x"]
    hidden = {made}
    logits = tf.layers.dense(hidden, 1)
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions={{"y": logits}})
    loss = tf.losses.mean_squared_error(labels, logits)
    train_op = tf.train.AdamOptimizer(0.01).minimize(loss, global_step=tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def input_fn():
    data = tf.data.Dataset.from_tensor_slices(({{"x": [[1.0], [2.0]]}}, [[1.0], [4.0]]))
    return data.repeat().batch(2)


estimator = tf.estimator.Estimator(model_fn, params={{"hidden": [8, 4]}})
estimator.train(input_fn, steps=20)
"""
LOOP = 'for number, units in enumerate(params["hidden"], 1)'


@pytest.mark.parametrize(
    "made",
    [
        'tf.contrib.layers.stack(x, tf.contrib.layers.fully_connected, params["hidden"])',
        'tf.contrib.layers.stack(x, tf.contrib.layers.fully_connected, stack_args=params["hidden"])',
        'tf.contrib.layers.stack(inputs=x, layer=tf.contrib.layers.fully_connected, stack_args=params["hidden"])',
    ],
)
def test_a_stack_of_sizes_that_are_not_written_there_is_a_loop(made: str) -> None:
    text = migrate(PROGRAM.format(made=made))
    assert LOOP in text and "tf.keras.layers.Dense(units, activation=" in text and "model.fit(" in text
    assert 'name=f"fully_connected_{number}"' in text


def test_settings_go_to_each_layer() -> None:
    made = 'tf.contrib.layers.stack(x, tf.contrib.layers.fully_connected, params["hidden"], activation_fn=tf.nn.tanh)'
    text = migrate(PROGRAM.format(made=made))
    assert "activation=tf.nn.tanh" in text and LOOP in text


def test_a_stack_of_sizes_that_are_written_is_its_layers() -> None:
    made = "tf.contrib.layers.stack(inputs=x, layer=tf.contrib.layers.fully_connected, stack_args=[8, 4])"
    text = migrate(PROGRAM.format(made=made))
    assert "tf.keras.layers.Dense(8" in text and "tf.keras.layers.Dense(4" in text and "enumerate" not in text


@pytest.mark.parametrize(
    "made",
    [
        'tf.contrib.layers.stack(x, tf.contrib.layers.conv2d, params["hidden"])',
        "tf.contrib.layers.stack(x, tf.contrib.layers.fully_connected, *params['hidden'])",
        "tf.contrib.layers.stack(x, tf.contrib.layers.fully_connected, **params)",
    ],
)
def test_arguments_that_are_not_seen_are_left(made: str) -> None:
    assert "tf.contrib.layers.stack" in manual_reason(PROGRAM.format(made=made))

"""Losses that helpers put into collections train as they do in an Estimator."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf
from both_sides import assert_equal_weights, new_program, old_program

from migrator.runtime.checkpoints.weight_names import named_weights
from migrator.runtime.training.training import evaluate, train

needs_estimators = pytest.mark.skipif(not hasattr(tf, "estimator"), reason="TensorFlow without Estimator")
v1 = tf.compat.v1

PROGRAM = """
import numpy as np
import tensorflow as tf


def block(x, units, decay, name):
    with tf.variable_scope(name) as scope:
        kernel = tf.get_variable("kernel", [x.shape[1], units])
        hidden = tf.nn.tanh(tf.matmul(x, kernel), name=scope.name)
        if decay > 0:
            tf.add_to_collection("losses", tf.multiply(decay, tf.nn.l2_loss(kernel), name="weight_loss"))
        tf.add_to_collection("losses", 0.01 * tf.reduce_mean(tf.abs(hidden)))
        return hidden


def model_fn(features, labels, mode, params):
    hidden = block(block(features["x"], 5, 0.3, "first"), 4, 0.0, "second")
    for scale in params["scales"]:
        tf.add_to_collection("losses", scale * tf.reduce_mean(tf.square(hidden)))
    kernel = tf.get_variable("kernel", [4, 1])
    predictions = tf.matmul(hidden, kernel)
    tf.train.init_from_checkpoint(params["first"], {"/": "/"})
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions=predictions)
    tf.add_to_collection("losses", tf.reduce_mean(tf.square(labels - predictions)))
    loss = tf.add_n(tf.get_collection("losses"), name="total_loss")
    train_op = tf.train.AdagradOptimizer(0.2).minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, predictions=predictions, loss=loss, train_op=train_op)


random = np.random.RandomState(0)
X, Y = random.randn(24, 3).astype(np.float32), random.randn(24, 1).astype(np.float32)


def input_fn():
    return tf.data.Dataset.from_tensor_slices(({"x": X}, Y)).batch(8).repeat(4)


def make_estimator(model_dir, first):
    return tf.estimator.Estimator(model_fn, model_dir, params={"first": first, "scales": [0.1, 0.2]})
"""
SHAPES = {"first/kernel": [3, 5], "second/kernel": [5, 4], "kernel": [4, 1]}


def checkpoint(folder: Path) -> str:
    """First values of all variables."""
    random = np.random.RandomState(1)
    with tf.Graph().as_default(), v1.Session() as session:
        for name, shape in SHAPES.items():
            v1.get_variable(name, initializer=random.randn(*shape).astype("float32"))
        v1.get_variable("global_step", initializer=np.int64(0))
        session.run(v1.global_variables_initializer())
        return str(v1.train.Saver().save(session, str(folder / "first")))


@needs_estimators
def test_weights_and_losses_are_those_of_an_estimator(tmp_path: Path) -> None:
    first = checkpoint(tmp_path)
    old = old_program(PROGRAM, tmp_path)
    estimator = old.make_estimator(str(tmp_path / "a"), first)
    expected = estimator.train(old.input_fn).evaluate(old.input_fn)

    new = new_program(PROGRAM, tmp_path, exact=True)
    model = new.make_estimator(str(tmp_path / "b"), first)
    train(model, new.input_fn)
    assert evaluate(model, new.input_fn) == pytest.approx(expected, rel=1e-5)
    weights = {name: variable.numpy() for name, variable in named_weights(model, [*model.tf1_names.items()])}
    assert set(weights) == set(SHAPES)
    assert_equal_weights(estimator, weights, rtol=2e-6)

    lost = new_program(PROGRAM.replace("0.01 *", "0.02 *"), tmp_path, exact=True).make_estimator(
        str(tmp_path / "c"), first
    )
    train(lost, new.input_fn)
    with pytest.raises(AssertionError):
        assert_equal_weights(estimator, {n: v.numpy() for n, v in named_weights(lost, [*lost.tf1_names.items()])}, 1e-5)

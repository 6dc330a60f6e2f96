"""Hooks of TensorFlow that a bridged program is given: they see what they saw in an Estimator."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf
from both_sides import bridged_program, old_program

pytestmark = pytest.mark.skipif(not hasattr(tf, "estimator"), reason="TensorFlow without Estimator")

PROGRAM = """\
import numpy as np
import tensorflow as tf

RANDOM = np.random.RandomState(5)
X, Y = RANDOM.rand(64, 2).astype("float32"), RANDOM.rand(64, 1).astype("float32")
FOLDER = "{folder}"


def input_fn():
    return tf.data.Dataset.from_tensor_slices((X, Y)).repeat().batch(8)


def model_fn(features, labels, mode):
    w = tf.get_variable("w", [2, 1], initializer=tf.zeros_initializer())
    loss = tf.losses.mean_squared_error(labels, tf.matmul(features, w))
    loss = tf.identity(loss, name="total")
    tf.reduce_sum(w, name="sum_of_weights")
    train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


final = tf.train.FinalOpsHook("sum_of_weights:0")
lines = []
logged = tf.train.LoggingTensorHook(["total"], every_n_iter=2, formatter=lambda values: lines.append(values) or "")
hooks = [final, logged, tf.train.NanTensorHook("total:0"), tf.train.GlobalStepWaiterHook(0)]
hooks.append(tf.train.StopAtStepHook(num_steps=6))
estimator = tf.estimator.Estimator(model_fn, FOLDER)
estimator.train(input_fn, hooks=hooks)
"""


def test_hooks_of_a_bridged_training(tmp_path: Path) -> None:
    old = old_program(PROGRAM.format(folder=tmp_path / "old"), tmp_path)
    new = bridged_program(PROGRAM.format(folder=tmp_path / "new"), tmp_path)
    np.testing.assert_allclose(new.final.final_ops_values, old.final.final_ops_values, rtol=1e-6)
    assert [list(line) for line in new.lines] == [list(line) for line in old.lines] != []
    np.testing.assert_allclose([line["total"] for line in new.lines], [line["total"] for line in old.lines], rtol=1e-6)


def test_a_loss_that_is_no_number_ends_both(tmp_path: Path) -> None:
    source = PROGRAM.replace("mean_squared_error(labels", "mean_squared_error(tf.log(-labels)")
    with pytest.raises(tf.compat.v1.train.NanLossDuringTrainingError):
        old_program(source.format(folder=tmp_path / "old"), tmp_path)
    with pytest.raises((tf.compat.v1.train.NanLossDuringTrainingError, FloatingPointError)):
        bridged_program(source.format(folder=tmp_path / "new"), tmp_path)

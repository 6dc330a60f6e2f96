"""Programs whose metrics TensorFlow 1 casts for, evaluated before and after."""

from __future__ import annotations

from pathlib import Path

import pytest
import tensorflow as tf
from both_sides import new_program, old_program

PROGRAM = """
import numpy as np
import tensorflow as tf

X = np.random.RandomState(0).randn(32, 3).astype("float32")
Y = (X[:, :1] > 0.3).astype("int64")


def input_fn():
    return tf.data.Dataset.from_tensor_slices(({"x": X}, Y)).batch(8)


def model_fn(features, labels, mode):
    logits = tf.layers.dense(features["x"], 1, kernel_initializer=tf.constant_initializer([2.0, 0.1, -0.1]))
    loss = tf.losses.sigmoid_cross_entropy(labels, logits)
    metrics = {
        "accuracy": tf.metrics.accuracy(labels, tf.nn.sigmoid(logits)),
        "rounded": tf.metrics.accuracy(labels, tf.round(tf.nn.sigmoid(logits))),
        "recall": tf.metrics.recall(labels, tf.squeeze(logits, -1) > 0),
        "negatives": tf.metrics.auc(tf.zeros_like(labels), tf.nn.sigmoid(logits)),
    }
    optimizer = tf.train.GradientDescentOptimizer(1e-3)
    train_op = optimizer.minimize(loss, global_step=tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op, eval_metric_ops=metrics)


def main(folder):
    estimator = tf.estimator.Estimator(model_fn, model_dir=folder)
    estimator.train(input_fn, steps=2)
    return estimator.evaluate(input_fn)
"""


@pytest.mark.skipif(not hasattr(tf, "estimator"), reason="TensorFlow without Estimator")
def test_metrics_of_whole_numbers_beside_probabilities(tmp_path: Path) -> None:
    expected = old_program(PROGRAM, tmp_path).main(str(tmp_path / "old"))
    found = new_program(PROGRAM, tmp_path, exact=True).main(str(tmp_path / "new"))
    assert expected.pop("global_step") and "global_step" not in found
    assert expected["rounded"] > 0.8 > 0.7 > expected["accuracy"] > 0.4 and expected["negatives"] == pytest.approx(1.0)
    assert found == pytest.approx(expected, rel=1e-5)

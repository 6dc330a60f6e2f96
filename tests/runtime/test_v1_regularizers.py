"""Regularizers of layers that share variables, in a `GraphModel` and under the Estimator."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pytest
import tensorflow as tf
from line_program import input_fn

from migrator.runtime.cluster import graph as cluster_graph
from migrator.runtime.graph_v1.v1_graph import EstimatorSpec
from migrator.runtime.graph_v1.v1_session_graph import graph_model
from migrator.runtime.training.prediction import predict
from migrator.runtime.training.training import evaluate, train

pytestmark = [
    pytest.mark.skipif(not hasattr(tf, "estimator"), reason="TensorFlow without Estimator"),
    pytest.mark.skipif(hasattr(tf.keras, "ops"), reason="Keras 3 has no layers of TensorFlow 1"),
]
v1 = tf.compat.v1
L2 = tf.keras.regularizers.L2(0.1)


def tower(inputs: Any, training: bool, reuse: bool) -> Any:
    """Layers of each kind, whose variables have regularizers."""
    start = v1.constant_initializer(0.3)
    shared: dict[str, Any] = {"reuse": reuse, "bias_initializer": start, "bias_regularizer": L2}
    kernel: dict[str, Any] = {"kernel_initializer": start, "kernel_regularizer": L2}
    with v1.variable_scope("tower"):
        x = v1.layers.dense(inputs, 4, name="dense", **shared, **kernel)
        x = v1.layers.conv1d(x[:, :, tf.newaxis], 2, 3, name="conv", **shared, **kernel)
        x = v1.layers.separable_conv1d(
            x,
            2,
            2,
            name="separable",
            depthwise_initializer=start,
            depthwise_regularizer=L2,
            pointwise_initializer=start,
            pointwise_regularizer=L2,
            **shared,
        )
        return v1.layers.batch_normalization(
            tf.reduce_sum(x, 1), name="norm", training=training, reuse=reuse, gamma_regularizer=L2, beta_regularizer=L2
        )


def parts_of_model(features: Any, training: bool) -> Any:
    """Two towers; a layer that is called twice; variables made by other means; shards."""
    x = features["x"]
    total = tower(x, training, False)
    # Else both calls move the same statistics in an order that is left to chance.
    with tf.control_dependencies(v1.get_collection(v1.GraphKeys.UPDATE_OPS)):
        total += 2.0 * tower(x[:, ::-1], training, True)
    layer = v1.layers.Dense(2, kernel_regularizer=L2, kernel_initializer=v1.constant_initializer(0.1))
    total += layer(x) + layer(x + 1.0)
    for regularizer, name in ((None, "plain"), (L2, "regularized")):
        with v1.variable_scope(name):
            v1.get_variable("kernel", [3, 2], initializer=v1.constant_initializer(0.2), regularizer=regularizer)
        total += v1.layers.dense(x, 2, use_bias=False, kernel_regularizer=L2, name=name, reuse=True)
    for _ in range(2):
        with v1.variable_scope("shards", reuse=v1.AUTO_REUSE, partitioner=v1.fixed_size_partitioner(2)):
            ones = v1.ones_initializer()
            total += v1.layers.dense(x, 2, name="d", kernel_initializer=ones, kernel_regularizer=L2)
    return tf.reduce_mean(total, 1, keepdims=True)


def as_estimators(features: Any, labels: Any, mode: str) -> Any:
    outputs = parts_of_model(features, mode == "train")
    penalty = v1.losses.get_regularization_loss()
    count = tf.constant(len(v1.losses.get_regularization_losses()))
    if mode == "infer":
        return tf.estimator.EstimatorSpec(mode, {"output": outputs + penalty})
    loss = v1.losses.mean_squared_error(labels, outputs) + penalty
    with tf.control_dependencies(v1.get_collection(v1.GraphKeys.UPDATE_OPS)):
        train_op = v1.train.GradientDescentOptimizer(0.01).minimize(loss, v1.train.get_global_step())
    metrics = {"penalty": v1.metrics.mean(penalty), "terms": v1.metrics.mean(count)}
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op, eval_metric_ops=metrics)


def as_migrated(features: Any, labels: Any, mode: str) -> Any:
    with mock.patch.object(tf.estimator, "EstimatorSpec", EstimatorSpec):
        return as_estimators(features, labels, mode)


@pytest.mark.parametrize("make", [graph_model, cluster_graph.graph_model])
def test_each_variable_is_regularized_once(tmp_path: Path, make: Any) -> None:
    old = tf.estimator.Estimator(as_estimators, str(tmp_path / "old"))
    new = make(as_migrated, str(tmp_path / "new"))
    old.train(input_fn, max_steps=5)
    train(new, input_fn, max_steps=5)
    found, expected = evaluate(new, input_fn), old.evaluate(input_fn)
    assert found == pytest.approx(expected, rel=1e-6)
    assert found["terms"] == 13
    assert set(new.tf1_variables) >= {"tower/dense/kernel", "shards/d/kernel/part_0"}
    for name, variable in new.tf1_variables.items():
        if "/part_" not in name:
            np.testing.assert_allclose(variable.numpy(), old.get_variable_value(name), rtol=1e-6, atol=1e-7)
    rows = list(old.predict(input_fn))
    for row, other in zip(predict(new, input_fn), rows):
        np.testing.assert_allclose(row["output"], other["output"], rtol=1e-6)


def test_layers_outside_of_the_model_are_left_alone(tmp_path: Path) -> None:
    before = v1.layers.Layer.add_weight
    train(graph_model(as_migrated, str(tmp_path)), input_fn, max_steps=1)
    assert v1.layers.Layer.add_weight is before

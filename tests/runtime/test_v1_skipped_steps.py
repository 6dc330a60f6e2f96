"""A `train_op` that counts the step with some batches only trains for as many batches as in an Estimator."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pytest
import tensorflow as tf
from line_program import X, Y

from migrator.runtime.graph_v1.v1_graph import EstimatorSpec
from migrator.runtime.graph_v1.v1_session_graph import skipping_graph_model
from migrator.runtime.training.training import train

v1 = tf.compat.v1
needs_estimators = pytest.mark.skipif(not hasattr(tf, "estimator"), reason="TensorFlow without Estimator")


def model_fn(features: Any, labels: Any, mode: str) -> Any:
    weight = v1.get_variable("weight", [], initializer=v1.zeros_initializer())
    count = v1.get_variable("seen", [], tf.int32, v1.zeros_initializer(), trainable=False)
    loss = v1.losses.mean_squared_error(labels, features["x"][:, :1] * weight)
    total = v1.get_variable("total", [], initializer=v1.zeros_initializer(), trainable=False)
    step, optimizer = v1.train.get_or_create_global_step(), v1.train.GradientDescentOptimizer(0.1)
    with tf.control_dependencies([total.assign_add(v1.gradients(loss, weight)[0]), count.assign_add(1)]):
        due = tf.equal(count.read_value() % 3, 0)
        train_op = v1.cond(due, lambda: optimizer.apply_gradients([(total.read_value(), weight)], step), tf.no_op)
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def endless() -> tf.data.Dataset:
    return tf.data.Dataset.from_tensor_slices(({"x": X}, Y)).repeat().batch(4)


def short() -> tf.data.Dataset:
    return endless().take(8)


@needs_estimators
@pytest.mark.parametrize(("limit", "batches"), [({"steps": 2}, (6, 12)), ({"max_steps": 2}, (6, 6))])
def test_same_as_estimator(tmp_path: Path, limit: dict[str, int], batches: tuple[int, int]) -> None:
    old = tf.estimator.Estimator(model_fn, str(tmp_path / "old"))
    new = skipping_graph_model(model_fn, str(tmp_path / "new"))
    for number in batches:
        with mock.patch.object(tf.estimator, "EstimatorSpec", EstimatorSpec):
            train(new, endless, **limit)
        old.train(endless, **limit)
        assert old.get_variable_value("seen") == new.tf1_variables["seen"].numpy() == number
    np.testing.assert_allclose(new.tf1_variables["weight"].numpy(), old.get_variable_value("weight"), rtol=1e-6)


@needs_estimators
def test_it_ends_with_the_data(tmp_path: Path) -> None:
    with mock.patch.object(tf.estimator, "EstimatorSpec", EstimatorSpec):
        new = skipping_graph_model(model_fn, str(tmp_path))
        train(new, short, steps=5)
    assert new.tf1_variables["seen"].numpy() == 8 and int(new.optimizer.iterations) == 2

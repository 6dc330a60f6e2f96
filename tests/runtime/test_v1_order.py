"""A step of a graph reads what it assigns before it does so, and assigns nothing before its batch is there."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf

from migrator.runtime.graph_v1.v1_graph import EstimatorSpec
from migrator.runtime.graph_v1.v1_order import order_writes
from migrator.runtime.graph_v1.v1_session_graph import graph_model
from migrator.runtime.training.training import evaluate, train

v1 = tf.compat.v1


def slowly() -> Any:
    """An operation that ends after all that need not wait for it."""
    return tf.numpy_function(lambda: time.sleep(0.05), [], [])


def test_the_step_is_read_before_it_is_assigned(tmp_path: Path) -> None:
    def model_fn(features: Any, labels: Any, mode: str) -> EstimatorSpec:
        total = v1.get_variable("total", [], initializer=v1.zeros_initializer())
        after = v1.get_variable("after", [], initializer=v1.zeros_initializer())
        step = v1.train.get_or_create_global_step()
        with tf.control_dependencies([slowly()]):
            rate = tf.cast(step.read_value(), tf.float32)
            rate = rate + tf.cond(rate >= 0.0, lambda: tf.cast(step.read_value(), tf.float32), lambda: 0.0)
        train_op = tf.group(total.assign_add(rate), [step.assign(step + 1)])
        with tf.control_dependencies([train_op]):
            train_op = after.assign_add(tf.cast(step.read_value(), tf.float32))
        return EstimatorSpec(mode, loss=tf.reduce_sum(features), train_op=train_op)

    # How many batches there are is not known: Keras asks for one more.
    data = tf.data.Dataset.range(6).filter(lambda value: value < 5)
    model = graph_model(model_fn, str(tmp_path))
    train(model, lambda: data)
    assert evaluate(model, lambda: data)["global_step"] == 5
    assert model.tf1_variables["total"].numpy() == 2 * (0 + 1 + 2 + 3 + 4)
    assert model.tf1_variables["after"].numpy() == 1 + 2 + 3 + 4 + 5


def test_data_end_before_anything_is_assigned(tmp_path: Path) -> None:
    def model_fn(features: Any, labels: Any, mode: str) -> EstimatorSpec:
        weight = v1.get_variable("weight", [3], initializer=v1.ones_initializer())
        decay = weight.assign(weight * 0.5)  # waits for nothing
        count = v1.train.get_global_step().assign_add(1)
        return EstimatorSpec(mode, loss=tf.reduce_sum(features["x"]), train_op=tf.group(decay, count))

    def generate() -> Any:
        for _ in range(3):
            yield {"x": np.ones([2], np.float32)}
            time.sleep(0.05)

    spec = {"x": tf.TensorSpec([2])}
    model = graph_model(model_fn, str(tmp_path))
    train(model, lambda: tf.data.Dataset.from_generator(generate, output_signature=spec))
    assert model.global_step.numpy() == 3
    np.testing.assert_array_equal(model.tf1_variables["weight"], np.full([3], 0.125, np.float32))


def test_no_circle_where_the_program_reads_between_two_assignments() -> None:
    variable = tf.Variable(1.0)

    def twice(batch: Any) -> Any:
        first = variable.assign(batch)
        with tf.control_dependencies([first]):
            between = variable.read_value() + 1.0
        with tf.control_dependencies([slowly()]):
            second = variable.assign(between * 10.0)
        with tf.control_dependencies([second]):
            results = [variable.read_value(), between]
        order_writes(results, [batch])
        return results

    wrapped = v1.wrap_function(twice, [tf.TensorSpec([])])
    assert [float(value) for value in wrapped(tf.constant(4.0))] == [50.0, 5.0]


def test_an_update_begins_with_what_the_one_before_has_written(tmp_path: Path) -> None:
    """A normalization that is applied twice moves its statistics twice, by the fused kernel as well."""
    images = np.random.RandomState(0).randn(2, 4, 3, 3, 2).astype(np.float32)

    def model_fn(features: Any, labels: Any, mode: str) -> EstimatorSpec:
        with v1.variable_scope("net", reuse=v1.AUTO_REUSE):
            first = v1.layers.batch_normalization(features["first"], training=True, momentum=0.9, name="bn")
            second = v1.layers.batch_normalization(features["second"], training=True, momentum=0.9, name="bn")
        loss = tf.reduce_sum(first) + tf.reduce_sum(second)
        count = v1.train.get_global_step().assign_add(1)
        train_op = tf.group(count, *v1.get_collection(v1.GraphKeys.UPDATE_OPS))
        return EstimatorSpec(mode, loss=loss, train_op=train_op)

    data = tf.data.Dataset.from_tensors({"first": images[0] + 1, "second": images[1] - 3})
    model = graph_model(model_fn, str(tmp_path))
    train(model, lambda: data)
    means = [(images[0] + 1).mean((0, 1, 2)), (images[1] - 3).mean((0, 1, 2))]
    expected = 0.9 * 0.1 * means[0] + 0.1 * means[1]
    np.testing.assert_allclose(model.tf1_variables["net/bn/moving_mean"], expected, 1e-5)

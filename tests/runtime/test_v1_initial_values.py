"""Variables of a graph that start from the initial value of another one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf
from line_program import input_fn

from migrator.runtime.graph_v1.v1_graph import EstimatorSpec
from migrator.runtime.graph_v1.v1_session_graph import graph_model
from migrator.runtime.training.training import train

v1 = tf.compat.v1


def test_accumulated_gradients_start_from_variables_and_are_applied_at_every_other_step(tmp_path: Path) -> None:
    seen: dict[str, Any] = {}

    def model_fn(features: Any, labels: Any, mode: str) -> EstimatorSpec:
        kernel = v1.get_variable("kernel", [3, 1], initializer=v1.truncated_normal_initializer(stddev=0.5))
        v1.Variable(2.0 * kernel.initialized_value() + 1.0, trainable=False, name="start")
        total = v1.Variable(tf.zeros_like(kernel.initialized_value()), trainable=False, name="total")
        if not seen:
            seen["kernel"], seen["start"] = (v1.get_collection("new_variables")[i] for i in (0, 1))
            with tf.init_scope():
                seen.update({name: variable.numpy() for name, variable in seen.items()})
        loss = tf.reduce_mean(tf.square(features["x"] @ kernel - labels))
        step = v1.train.get_global_step()
        (gradient,) = v1.gradients(loss, [kernel])
        optimizer = v1.train.GradientDescentOptimizer(0.1)

        def apply() -> Any:
            with tf.control_dependencies([optimizer.apply_gradients([(total / 2.0, kernel)])]):
                return tf.group(total.assign(tf.zeros_like(total)))

        with tf.control_dependencies([total.assign_add(gradient)]):
            update = v1.cond(tf.equal(step % 2, 1), apply, tf.no_op)
        return EstimatorSpec(mode, loss=loss, train_op=tf.group(update, v1.assign_add(step, 1)))

    model = graph_model(model_fn, str(tmp_path))
    train(model, input_fn, max_steps=4)
    np.testing.assert_array_equal(seen["start"], 2.0 * seen["kernel"] + 1.0)
    kernel, total = seen["kernel"].copy(), np.zeros([3, 1], np.float32)
    for step, (features, labels) in enumerate(input_fn("train").take(4)):
        x, y = features["x"].numpy(), labels.numpy().reshape(-1, 1)
        total += 2.0 * x.T @ (x @ kernel - y) / len(x)
        if step % 2:
            kernel, total = kernel - 0.1 * total / 2.0, np.zeros_like(total)
    np.testing.assert_allclose(model.tf1_variables["kernel"].numpy(), kernel, rtol=1e-5)
    assert not model.tf1_variables["total"].numpy().any() and model.global_step.numpy() == 4


def test_variables_of_one_keras_initializer_draw_their_own_values(tmp_path: Path) -> None:
    def model_fn(features: Any, labels: Any, mode: str) -> EstimatorSpec:
        with v1.variable_scope("net", initializer=tf.keras.initializers.RandomUniform(-1.0, 1.0)):
            first, second = (v1.get_variable(name, [3, 3]) for name in "ab")
        seeded = tf.keras.initializers.RandomNormal(seed=3)
        third, fourth = (v1.get_variable(name, [3, 3], initializer=seeded) for name in "cd")
        loss = tf.reduce_mean(features["x"] @ first @ second @ third @ fourth)
        return EstimatorSpec(mode, loss=loss, train_op=v1.assign_add(v1.train.get_global_step(), 1))

    model = graph_model(model_fn, str(tmp_path))
    train(model, input_fn, max_steps=1)
    made = {name: variable.numpy() for name, variable in model.tf1_variables.items()}
    assert not np.isin(made["net/a"], made["net/b"]).any() and abs(made["net/a"]).max() <= 1.0
    np.testing.assert_array_equal(made["c"], made["d"])  # as the old program has it

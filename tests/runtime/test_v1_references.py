"""A step of a kept graph reads variables where references were read; where they were resources, it says so."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from migrator.runtime.graph_v1.v1_graph import EstimatorSpec
from migrator.runtime.graph_v1.v1_resources import with_resources
from migrator.runtime.graph_v1.v1_session_graph import graph_model
from migrator.runtime.training.training import train

v1 = tf.compat.v1
SHAPES = {"generator/kernel": (3, 4), "critic/kernel": (4, 2), "critic/out": (2, 1)}
BATCHES = np.random.RandomState(0).randn(5, 6, 3).astype(np.float32)


def losses(noise: Any) -> tuple[Any, Any]:
    random = np.random.RandomState(1)
    weights = {name: random.randn(*shape).astype(np.float32) for name, shape in SHAPES.items()}
    generator, critic, out = (v1.get_variable(name, initializer=value) for name, value in weights.items())
    score = tf.tanh(tf.tanh(noise @ generator) @ critic) @ tf.identity(out)
    return tf.reduce_mean(tf.square(score - 1.0)), -tf.reduce_mean(tf.square(score))  # both need the score, read before


def minimize_in_order(noise: Any, step: Any) -> tuple[Any, Any]:
    """The second gradients lead through the weights of the first step."""
    critic_loss, loss = losses(noise)
    first = v1.train.RMSPropOptimizer(0.1).minimize(critic_loss, var_list=v1.trainable_variables("critic"))
    with tf.control_dependencies([first]):
        return loss, v1.train.AdamOptimizer(0.1).minimize(loss, step, var_list=v1.trainable_variables("generator"))


def clip_in_order(noise: Any, step: Any) -> tuple[Any, Any]:
    """What is written between both steps is read, too, and what was read of it before."""
    critic_loss, loss = losses(noise)
    critic = v1.trainable_variables("critic")
    kept = tf.identity(critic[0])
    with tf.control_dependencies([kept]):
        first = v1.train.GradientDescentOptimizer(0.5).minimize(critic_loss, var_list=critic)
    with tf.control_dependencies([first]):
        clipped = [v1.assign(v, tf.clip_by_value(v, -0.4, 0.4)) for v in critic]
    with tf.control_dependencies(clipped):
        second = v1.train.MomentumOptimizer(0.1, 0.9).minimize(loss, step, var_list=v1.trainable_variables("generator"))
        with tf.control_dependencies([second]):
            return loss, tf.group(v1.assign_sub(critic[1], 0.01 * tf.reduce_mean(kept) * tf.ones([2, 1])))


def in_session(build: Any, resources: bool) -> dict[str, Any]:
    """The weights after a step for each batch, in a graph of TensorFlow 1."""
    was = v1.resource_variables_enabled()
    with tf.Graph().as_default(), v1.Session() as session:
        (v1.enable_resource_variables if resources else v1.disable_resource_variables)()
        try:
            noise = v1.placeholder(tf.float32, [6, 3])
            _, train_op = build(noise, v1.train.create_global_step())
        finally:
            (v1.enable_resource_variables if was else v1.disable_resource_variables)()
        session.run(v1.global_variables_initializer())
        for batch in BATCHES:
            session.run(train_op, {noise: batch})
        return {v.op.name: session.run(v) for v in v1.trainable_variables()}


@pytest.mark.parametrize("resources", [False, True])
@pytest.mark.parametrize("build", [minimize_in_order, clip_in_order])
def test_weights_after_steps_in_order(build: Any, resources: bool, tmp_path: Path) -> None:
    def model_fn(features: Any, labels: Any, mode: str) -> EstimatorSpec:
        loss, train_op = build(features, v1.train.get_global_step())
        return EstimatorSpec(mode, loss=loss, train_op=train_op)

    model = graph_model(with_resources(model_fn) if resources else model_fn, str(tmp_path))
    train(model, lambda: tf.data.Dataset.from_tensor_slices(BATCHES))
    expected, other = in_session(build, resources), in_session(build, not resources)
    for name in SHAPES:
        np.testing.assert_allclose(model.tf1_variables[name].numpy(), expected[name], rtol=1e-5, atol=1e-6)
    assert any(np.abs(expected[name] - other[name]).max() > 1e-3 for name in SHAPES)

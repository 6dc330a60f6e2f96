"""`optimize_loss` against the one of `tf_slim`, which is that of `tf.contrib.layers`, in graphs of TensorFlow 1."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from migrator.parity.probe.tf1.contrib import Contrib
from migrator.runtime.graph_contrib.v1_optimize_loss import optimize_loss

v1 = tf.compat.v1
REFERENCE = pytest.importorskip("tf_slim") and Contrib().layers.optimize_loss


def decayed(rate: Any, step: Any) -> Any:
    return v1.train.exponential_decay(rate, step, 3, 0.5)


def by_value(pairs: Any) -> Any:
    return [(tf.clip_by_value(gradient, -0.1, 0.1), variable) for gradient, variable in pairs]


def trained(function: Any, arguments: dict[str, Any]) -> tuple[list[float], dict[str, np.ndarray], list[bytes]]:
    """Losses of ten steps, all variables, and the summaries of the last step."""
    random = np.random.RandomState(0)
    with tf.Graph().as_default(), v1.Session() as session:
        step = v1.train.get_or_create_global_step()
        ids, labels = v1.placeholder(tf.int64, [6]), v1.placeholder(tf.float32, [6])
        initializer = v1.constant_initializer(0.3)
        table = v1.get_variable("table", [9, 3], initializer=initializer, use_resource=True)
        kernel = v1.get_variable("kernel", [3, 1], initializer=initializer, use_resource=True)
        calls = v1.get_variable("calls", [], initializer=v1.zeros_initializer(), trainable=False, use_resource=True)
        v1.add_to_collection(v1.GraphKeys.UPDATE_OPS, calls.assign_add(1.0))
        outputs = tf.tanh(tf.gather(table, ids)) @ kernel
        loss = tf.reduce_mean(tf.square(outputs[:, 0] - labels))
        chosen = {**arguments}
        if "variables" in chosen:
            chosen["variables"] = [kernel]
        train_op = function(loss=loss, global_step=step, **chosen)
        summaries = v1.summary.merge_all()
        session.run(v1.global_variables_initializer())
        losses, written = [], b""
        for _ in range(10):
            feed = {ids: random.randint(0, 5, 6), labels: random.randn(6)}
            value, written = session.run([train_op, summaries], feed)
            losses.append(float(value))
        values = {variable.op.name: session.run(variable) for variable in v1.global_variables()}
    return losses, values, sorted(part.tag for part in v1.Summary.FromString(written).value)


@pytest.mark.parametrize(
    "arguments",
    [
        {"learning_rate": 0.1, "optimizer": "SGD"},
        {"learning_rate": 0.1, "optimizer": "Momentum", "clip_gradients": 0.05, "learning_rate_decay_fn": decayed},
        {"learning_rate": 0.1, "optimizer": "RMSProp", "summaries": ["loss", "gradients", "gradient_norm"]},
        {"learning_rate": 0.1, "optimizer": v1.train.AdamOptimizer, "gradient_multipliers": {"table:0": 0.5}},
        {"learning_rate": 0.1, "optimizer": lambda rate: v1.train.AdagradOptimizer(rate), "clip_gradients": by_value},
        {"learning_rate": None, "optimizer": lambda: v1.train.FtrlOptimizer(0.1), "name": "mine"},
        {"learning_rate": 0.1, "optimizer": "Adam", "variables": True, "increment_global_step": False},
        {"learning_rate": 0.1, "optimizer": "Adam", "update_ops": []},
    ],
)
def test_equals_contrib(arguments: dict[str, Any]) -> None:
    losses, values, tags = trained(optimize_loss, arguments)
    expected_losses, expected, expected_tags = trained(REFERENCE, arguments)
    np.testing.assert_allclose(losses, expected_losses, rtol=1e-6)
    assert set(values) == set(expected) and tags == expected_tags
    for name, value in values.items():
        np.testing.assert_allclose(value, expected[name], rtol=1e-6, atol=1e-7, err_msg=name)


@pytest.mark.parametrize(("rate", "optimizer"), [(0.1, "Nadam"), (None, "Adam"), (None, v1.train.AdamOptimizer)])
def test_what_is_no_optimizer(rate: Any, optimizer: Any) -> None:
    with tf.Graph().as_default(), pytest.raises(ValueError, match="optimizer"):
        weight = v1.get_variable("weight", [])
        optimize_loss(tf.square(weight), v1.train.get_or_create_global_step(), rate, optimizer)

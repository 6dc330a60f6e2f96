"""`create_train_op` against those of `tf_slim`, which are those of `tf.contrib`, in graphs of TensorFlow 1."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from migrator.parity.probe.tf1.contrib import Contrib
from migrator.runtime.graph_v1.v1_train_ops import create_train_op, slim_create_train_op

v1 = tf.compat.v1
CONTRIB = pytest.importorskip("tf_slim") and Contrib()
REFERENCES = {
    create_train_op: CONTRIB.training.create_train_op,
    slim_create_train_op: CONTRIB.slim.learning.create_train_op,
}


def halved(pairs: Any) -> Any:
    return [(gradient * 0.5 if variable.op.name == "kernel" else gradient, variable) for gradient, variable in pairs]


def trained(function: Any, arguments: dict[str, Any]) -> tuple[list[float], dict[str, np.ndarray], set[str]]:
    """Losses of six steps, all variables, and the tags of the summaries."""
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
        if "variables_to_train" in chosen:
            chosen["variables_to_train"] = [kernel]
        train_op = function(loss, v1.train.AdamOptimizer(0.1), **chosen)
        session.run(v1.global_variables_initializer())
        losses = []
        for _ in range(6):
            losses.append(float(session.run(train_op, {ids: random.randint(0, 5, 6), labels: random.randn(6)})))
        values = {variable.op.name: session.run(variable) for variable in v1.global_variables()}
        assert step.op.name in values
        kinds = {op.type for op in session.graph.get_operations()}
        return losses, values, {kind for kind in kinds if kind.endswith("Summary") or kind == "CheckNumerics"}


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (create_train_op, {}),
        (create_train_op, {"global_step": None, "check_numerics": False}),
        (create_train_op, {"update_ops": [], "transform_grads_fn": halved, "summarize_gradients": True}),
        (slim_create_train_op, {}),
        (slim_create_train_op, {"clip_gradient_norm": 0.02, "gradient_multipliers": {"table": 3.0}}),
        (slim_create_train_op, {"variables_to_train": None, "clip_gradient_norm": 4, "summarize_gradients": True}),
    ],
)
def test_as_in_contrib(function: Any, arguments: dict[str, Any]) -> None:
    losses, values, kinds = trained(function, arguments)
    expected_losses, expected, expected_kinds = trained(REFERENCES[function], arguments)
    np.testing.assert_allclose(losses, expected_losses, rtol=1e-6)
    assert set(values) == set(expected) and kinds == expected_kinds
    for name, value in expected.items():
        np.testing.assert_allclose(values[name], value, rtol=1e-6, err_msg=name)

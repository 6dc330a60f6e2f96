"""How large gradients are, as the old side sees them in its graph."""

from __future__ import annotations

import pytest
import tensorflow as tf

from migrator.parity.probe.recorded import gradients

v1 = tf.compat.v1


@pytest.fixture(autouse=True)
def watched(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(v1.train.Optimizer, "apply_gradients", v1.train.Optimizer.apply_gradients)
    gradients.install()


def test_gradients_of_a_graph() -> None:
    with tf.Graph().as_default() as graph, v1.Session() as session:
        table = v1.get_variable("table", initializer=[[1.0], [2.0], [3.0]])
        bias = v1.get_variable("scope/bias", initializer=[0.5])
        unused = v1.get_variable("unused", initializer=[0.5])
        scores = tf.reshape(tf.gather(table, [0, 2]), [-1]) + bias
        loss = -3.0 * tf.nn.softmax(scores)[0]
        optimizer = v1.train.GradientDescentOptimizer(0.1)
        train_op = optimizer.apply_gradients(zip(*zip(*optimizer.compute_gradients(loss, [table, bias, unused]))))
        sizes = gradients.sizes(graph)
        assert gradients.sizes(graph) == {}
        session.run(v1.global_variables_initializer())
        _, found = session.run([train_op, sizes])
    assert sorted(found) == ["scope/bias", "table"]
    assert found["table"] == pytest.approx(3 * 0.1049936, rel=1e-5) and found["scope/bias"] < 1e-6


def test_a_variable_of_two_optimizers_has_the_larger_gradient() -> None:
    with tf.Graph().as_default() as graph, v1.Session() as session:
        w = v1.get_variable("w", initializer=[1.0, -2.0])
        for factor in (1.0, -5.0):
            v1.train.AdamOptimizer().minimize(tf.reduce_sum(factor * w))
        sizes = gradients.sizes(graph)
        session.run(v1.global_variables_initializer())
        assert session.run(sizes) == {"w": 5.0}


@pytest.mark.parametrize("control_flow_v2", [False, True])
def test_steps_under_a_condition_are_left_out(control_flow_v2: bool) -> None:
    before = v1.control_flow_v2_enabled()
    (v1.enable_control_flow_v2 if control_flow_v2 else v1.disable_control_flow_v2)()
    try:
        with tf.Graph().as_default() as graph, v1.Session() as session:
            w = v1.get_variable("w", initializer=[1.0, -2.0], use_resource=True)
            b = v1.get_variable("b", initializer=3.0, use_resource=True)
            optimizer = v1.train.GradientDescentOptimizer(0.1)
            due = v1.placeholder(tf.bool)
            step = tf.cond(due, lambda: optimizer.minimize(tf.reduce_sum(w)), tf.no_op)
            always = optimizer.minimize(2.0 * b, var_list=[b])
            sizes = gradients.sizes(graph)
            session.run(v1.global_variables_initializer())
            _, _, found = session.run([step, always, sizes], {due: False})
    finally:
        (v1.enable_control_flow_v2 if before else v1.disable_control_flow_v2)()
    assert found == {"b": 2.0}

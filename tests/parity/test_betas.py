"""With the betas of TensorFlow 1, Adam of Keras trains as that did."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from migrator.parity.probe import betas

GRADIENTS = np.random.RandomState(0).randn(60, 5).astype("float32")
v1 = tf.compat.v1


def old_steps() -> list[np.ndarray]:
    with tf.Graph().as_default(), v1.Session() as session:
        variable, gradient = v1.Variable(tf.zeros(5), use_resource=True), v1.placeholder(tf.float32, [5])
        train_op = v1.train.AdamOptimizer(0.01).apply_gradients([(gradient, variable)])
        session.run(v1.global_variables_initializer())
        return [_stepped(session, train_op, variable, {gradient: row}) for row in GRADIENTS]


def _stepped(session: v1.Session, train_op: tf.Operation, variable: tf.Variable, feed: dict[Any, Any]) -> np.ndarray:
    session.run(train_op, feed)
    value: np.ndarray = session.run(variable)
    return value


def new_steps() -> list[np.ndarray]:
    variable, optimizer = tf.Variable(tf.zeros(5)), tf.keras.optimizers.Adam(0.01, epsilon=1e-8)
    found = []
    for row in GRADIENTS:
        optimizer.apply_gradients([(tf.constant(row), variable)])
        found.append(variable.numpy())
    return found


def apart(one: list[np.ndarray], other: list[np.ndarray]) -> float:
    return float(np.max(np.abs(np.array(one) - np.array(other))))


@pytest.fixture(autouse=True)
def restored(monkeypatch: pytest.MonkeyPatch) -> None:
    adam = tf.keras.optimizers.Adam
    monkeypatch.setattr(adam, "build", adam.build)
    for name in {"tf", "ops"} & adam.update_step.__globals__.keys():
        monkeypatch.setitem(adam.update_step.__globals__, name, adam.update_step.__globals__[name])


def test_rounding_is_that_of_tf1() -> None:
    old = old_steps()
    before = apart(old, new_steps())
    notes: list[str] = []
    betas.install(notes.append)
    assert apart(old, new_steps()) < before / 20 and set(notes) == {betas.NOTE}


def test_powers_are_products_of_as_many_steps() -> None:
    betas.install(lambda text: None)
    power = tf.keras.optimizers.Adam.update_step.__globals__["tf"].pow
    expected, found = np.float32(1), []
    for step in range(1, 40):
        expected *= np.float32(0.999)
        found.append(float(power(tf.constant(0.999), tf.constant(float(step)))) == float(expected))
    assert all(found)
    assert float(power(tf.constant(0.9), tf.constant(1e6))) < 1e-8
    assert float(power(tf.constant(0.0), tf.constant(1.0))) == 0


def test_the_rest_of_an_optimizer_stays() -> None:
    betas.install(lambda text: None)
    optimizer = tf.keras.optimizers.Adam(0.01, beta_1=0.5, beta_2=0.99, epsilon=0.1)
    before = optimizer.get_config()
    optimizer.build([tf.Variable(tf.zeros(2))])
    after = optimizer.get_config()
    assert {name for name in after if after[name] != before[name]} == {"beta_2"}
    assert after["beta_2"] == pytest.approx(0.99, rel=1e-7)

"""What a worker runs at one order trains as Keras does, with fewer messages between processes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from cluster_program import X, Y

from migrator.runtime.cluster.orders import largest_divisor, order_of, reading_once
from migrator.runtime.losses_metrics.metrics import BatchMean
from migrator.runtime.optimizers.optimizers_adam import AdamOptimizer
from migrator.runtime.training.training import configure

pytestmark = pytest.mark.skipif(hasattr(tf.keras, "ops"), reason="Keras 3 does not train with parameter servers")


class Model(tf.keras.Model):
    """Four variables, and an optimizer of its own for two of them."""

    def __init__(self) -> None:
        super().__init__()
        self.hidden = tf.keras.layers.Dense(5, kernel_initializer="ones")
        self.dense = tf.keras.layers.Dense(1, kernel_initializer="ones")
        self.loss_metric = BatchMean(name="loss")
        self.mae = tf.keras.metrics.MeanAbsoluteError(name="mae")
        self.own_optimizer = AdamOptimizer(0.01)

    def call(self, x: Any) -> Any:
        return self.dense(self.hidden(x))

    def compute_loss(self, x: Any = None, y: Any = None, y_pred: Any = None, sample_weight: Any = None) -> Any:
        loss = tf.reduce_mean(tf.square(y_pred - y))
        self.loss_metric.update_state(loss)
        return loss

    def train_step(self, data: Any) -> Any:
        x, y = data
        with tf.GradientTape() as tape:
            y_pred = self(x)
            loss = self.compute_loss(x, y, y_pred)
        layers = self.hidden.trainable_variables, self.dense.trainable_variables
        for optimizer, variables, part in zip(
            (self.own_optimizer, self.optimizer), layers, tape.gradient(loss, layers)
        ):
            optimizer.apply_gradients(zip(part, variables))
        return self.compute_metrics(x, y, y_pred, None)


def trained(folder: Path, steps: int, ways: int, at_once: int) -> tuple[Any, list[float]]:
    rate = tf.keras.optimizers.schedules.ExponentialDecay(0.1, 1, 0.9)
    model = Model()
    model.compile(tf.keras.optimizers.Adagrad(rate))
    configure(model, model_dir=str(folder / str(ways)))
    model.run_state.loss_alone = True
    dataset = tf.data.Dataset.from_tensor_slices((X, Y)).repeat().batch(4)
    if not ways:
        history = model.fit(dataset, epochs=steps, steps_per_epoch=1, verbose=0)
        return model, history.history["loss"]
    iterator, order, losses = iter(dataset), order_of(model, at_once), []
    for _ in range(steps // at_once):
        losses.append(float(order(iterator)["loss"]))
        assert float(model.loss_metric.result()) == losses[-1]
    return model, losses


def test_an_order_trains_as_fit_does(tmp_path: Path) -> None:
    at_once = 4
    one, wanted = trained(tmp_path, 12, 0, 1)
    two, losses = trained(tmp_path, 12, 1, at_once)
    np.testing.assert_allclose(losses, wanted[at_once - 1 :: at_once], rtol=1e-6)
    for variable, other in zip(one.weights, two.weights):
        if "total" not in variable.name and "count" not in variable.name:
            np.testing.assert_allclose(variable, other, rtol=1e-6, err_msg=variable.name)
    assert int(two.optimizer.iterations) == int(two.own_optimizer.iterations) == 12
    assert float(two.optimizer.learning_rate) == pytest.approx(0.1 * 0.9**11)
    two.loss_metric.reset_state()
    two.loss_metric.update_state([1.0, 3.0])  # a mean again
    assert float(two.loss_metric.result()) == 2.0


def test_a_loss_that_is_no_number_is_not_overlooked(tmp_path: Path) -> None:
    model = Model()
    model.compile(tf.keras.optimizers.SGD(0.0))
    configure(model, model_dir=str(tmp_path))
    model.run_state.loss_alone = True
    inputs = np.stack([X[:2], np.full_like(X[:2], np.nan), X[:2], X[:2]])
    model.own_optimizer = None
    model.train_step = lambda data: {"loss": tf.reduce_mean(model(data))}
    data = iter(tf.data.Dataset.from_tensor_slices(inputs).repeat())
    assert np.isnan(order_of(model, 4)(data)["loss"])
    assert np.isfinite(order_of(model, 1)(data)["loss"])


def test_rates_are_read_once_a_step() -> None:
    variables = [tf.Variable([1.0, 2.0]) for _ in range(3)]
    optimizer = AdamOptimizer(0.1)
    optimizer.build(variables)

    @tf.function
    def step() -> None:
        with reading_once(optimizer):
            optimizer.apply_gradients([(tf.ones([2]), variable) for variable in variables])

    graph = step.get_concrete_function().graph
    handles = {id(outer): inner for outer, inner in graph.captures}
    for rate, number in ((optimizer._learning_rate, 1), (optimizer.beta1_power, 2)):  # and once to multiply it
        reads = [op for op in handles[id(rate.handle)].consumers() if op.type == "ReadVariableOp"]
        assert len(reads) == number, rate.name


def test_divisors() -> None:
    assert [largest_divisor(100, most) for most in (0, 1, 8, 12, 25, 100, 1000)] == [1, 1, 5, 10, 25, 100, 100]

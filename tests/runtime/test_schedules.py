"""Learning rate schedules, ours and those Keras has, against ``tf.compat.v1.train`` for steps 0 to 24."""

from __future__ import annotations

import math
from typing import Any, Callable

import numpy as np
import pytest
import tensorflow as tf

from migrator.runtime.optimizers.schedules import LinearCosineDecay

v1 = tf.compat.v1.train
keras = tf.keras.optimizers.schedules

# name: (the schedule of TF1 as a function of the global step, its replacement)
SCHEDULES: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "exponential_decay": (lambda g: v1.exponential_decay(0.1, g, 7, 0.6), keras.ExponentialDecay(0.1, 7, 0.6)),
    "exponential_decay staircase": (
        lambda g: v1.exponential_decay(0.1, g, 7, 0.6, staircase=True),
        keras.ExponentialDecay(0.1, 7, 0.6, staircase=True),
    ),
    "piecewise_constant": (
        lambda g: v1.piecewise_constant(g, [5, 11], [0.3, 0.2, 0.1]),
        keras.PiecewiseConstantDecay([5, 11], [0.3, 0.2, 0.1]),
    ),
    "piecewise_constant_decay": (
        lambda g: v1.piecewise_constant_decay(g, [5, 11], [0.3, 0.2, 0.1]),
        keras.PiecewiseConstantDecay([5, 11], [0.3, 0.2, 0.1]),
    ),
    "polynomial_decay": (
        lambda g: v1.polynomial_decay(0.1, g, 10, 0.01, power=2.0),
        keras.PolynomialDecay(0.1, 10, 0.01, power=2.0),
    ),
    "polynomial_decay cycle": (
        lambda g: v1.polynomial_decay(0.1, g, 10, 0.01, power=0.5, cycle=True),
        keras.PolynomialDecay(0.1, 10, 0.01, power=0.5, cycle=True),
    ),
    "natural_exp_decay": (
        lambda g: v1.natural_exp_decay(0.1, g, 7, 0.6),
        keras.ExponentialDecay(0.1, 7, math.exp(-0.6)),
    ),
    "natural_exp_decay staircase": (
        lambda g: v1.natural_exp_decay(0.1, g, 7, 0.6, staircase=True),
        keras.ExponentialDecay(0.1, 7, math.exp(-0.6), staircase=True),
    ),
    "inverse_time_decay": (
        lambda g: v1.inverse_time_decay(0.1, g, 7, 0.6),
        keras.InverseTimeDecay(0.1, 7, 0.6),
    ),
    "inverse_time_decay staircase": (
        lambda g: v1.inverse_time_decay(0.1, g, 7, 0.6, staircase=True),
        keras.InverseTimeDecay(0.1, 7, 0.6, staircase=True),
    ),
    "cosine_decay": (lambda g: v1.cosine_decay(0.1, g, 20, 0.1), keras.CosineDecay(0.1, 20, 0.1)),
    "cosine_decay_restarts": (
        lambda g: v1.cosine_decay_restarts(0.1, g, 5, 2.0, 0.9, 0.1),
        keras.CosineDecayRestarts(0.1, 5, 2.0, 0.9, 0.1),
    ),
    "linear_cosine_decay": (lambda g: v1.linear_cosine_decay(0.1, g, 20), LinearCosineDecay(0.1, 20)),
    "linear_cosine_decay periods": (
        lambda g: v1.linear_cosine_decay(0.1, g, 20, num_periods=1.5, alpha=0.2, beta=0.01),
        LinearCosineDecay(0.1, 20, num_periods=1.5, alpha=0.2, beta=0.01),
    ),
    "noisy_linear_cosine_decay without variance": (
        lambda g: v1.noisy_linear_cosine_decay(0.1, g, 20, initial_variance=0.0),
        LinearCosineDecay(0.1, 20),
    ),
    "warm-up": (
        lambda g: tf.minimum(tf.cast(g + 1, tf.float32) / 8.0, 1.0) * v1.polynomial_decay(0.1, g, 20, 0.0),
        lambda g: tf.minimum(tf.cast(g + 1, tf.float32) / 8.0, 1.0) * keras.PolynomialDecay(0.1, 20, 0.0)(g),
    ),
}


@pytest.mark.parametrize("name", SCHEDULES)
def test_schedule_equals_tf1(name: str) -> None:
    reference, schedule = SCHEDULES[name]
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        step = tf.compat.v1.placeholder(tf.int64, [])
        rate = reference(step)
        expected = [session.run(rate, {step: i}) for i in range(25)]
    actual = [float(schedule(tf.constant(i, tf.int64))) for i in range(25)]
    # Near the end of a cosine the graph, which may reorder products, is itself only that exact for rates of 0.1.
    np.testing.assert_allclose(actual, expected, rtol=1e-6, atol=5e-8)


def test_noise_falls_with_the_step() -> None:
    tf.random.set_seed(1)
    noisy = LinearCosineDecay(1.0, 1000, num_periods=0.0, initial_variance=1.0, variance_decay=2.0)
    early = np.std([float(noisy(0)) for _ in range(50)])
    late = np.std([float(noisy(99)) for _ in range(50)])
    assert 0.7 < early < 1.3
    assert late < early / 50


def test_config_round_trip() -> None:
    schedule = LinearCosineDecay(0.1, 20, num_periods=1.5, alpha=0.2, beta=0.01)
    copy = LinearCosineDecay.from_config(schedule.get_config())
    assert float(copy(7)) == float(schedule(7))


def test_optimizer_reads_the_schedule_at_the_step_before_its_update() -> None:
    class Rate(keras.LearningRateSchedule):  # type: ignore[misc]
        def __call__(self, step: tf.Tensor) -> tf.Tensor:
            return tf.cast(step, tf.float32)

    optimizer = tf.keras.optimizers.SGD(Rate())
    variable = tf.Variable([0.0])
    for _ in range(3):
        optimizer.apply_gradients([(tf.constant([1.0]), variable)])
    assert float(variable[0]) == -(0.0 + 1.0 + 2.0)

"""Learning rate schedules of TensorFlow 1 that Keras lacks."""

from __future__ import annotations

import math
from typing import Any

import tensorflow as tf


class LinearCosineDecay(tf.keras.optimizers.schedules.LearningRateSchedule):
    """``tf.compat.v1.train.linear_cosine_decay``, and with a variance ``noisy_linear_cosine_decay``.

    ``rate * ((alpha + linear + noise) * cosine + beta)``, where ``linear`` falls from one to zero, from Bello et al.,
    "Neural Optimizer Search with RL" (2017). Keras 2 has no class for it.

    Args:
        learning_rate: rate at step zero, but for ``alpha`` and ``beta``.
        decay_steps: steps until ``linear`` is zero.
        num_periods: periods of the cosine in that time.
        alpha: see the formula.
        beta: see the formula.
        initial_variance: variance of the noise at step zero; 0 for none.
        variance_decay: the variance falls as ``(1 + step) ** -variance_decay``, until ``decay_steps``.
    """

    def __init__(
        self,
        learning_rate: float,
        decay_steps: int,
        num_periods: float = 0.5,
        alpha: float = 0.0,
        beta: float = 0.001,
        initial_variance: float = 0.0,
        variance_decay: float = 0.55,
    ) -> None:
        super().__init__()
        self.learning_rate = learning_rate
        self.decay_steps = decay_steps
        self.num_periods = num_periods
        self.alpha = alpha
        self.beta = beta
        self.initial_variance = initial_variance
        self.variance_decay = variance_decay

    def __call__(self, step: Any) -> tf.Tensor:
        """The rate at a step, a float scalar."""
        step = tf.minimum(tf.cast(step, tf.float32), self.decay_steps)
        linear = (self.decay_steps - step) / self.decay_steps
        if self.initial_variance:
            variance = self.initial_variance / tf.pow(1.0 + step, self.variance_decay)
            linear += tf.random.normal([], stddev=tf.sqrt(variance))
        cosine = 0.5 * (1.0 + tf.cos(math.pi * (2.0 * self.num_periods * (step / self.decay_steps))))
        return self.learning_rate * ((self.alpha + linear) * cosine + self.beta)

    def get_config(self) -> dict[str, Any]:
        return {
            "learning_rate": self.learning_rate,
            "decay_steps": self.decay_steps,
            "num_periods": self.num_periods,
            "alpha": self.alpha,
            "beta": self.beta,
            "initial_variance": self.initial_variance,
            "variance_decay": self.variance_decay,
        }

"""Optimizers of TensorFlow 1 with L1 and L2 in their formula, for linear models."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from migrator.runtime.optimizers.row_updates import RowUpdates


def shrunk(values: Any, l1: Any) -> Any:
    """Values nearer to zero by `l1`, zero where they are nearer already."""
    return values - tf.clip_by_value(values, -l1, l1)


class ProximalAdagrad(RowUpdates, tf.keras.optimizers.Adagrad):
    """Adagrad with L1 and L2 applied as a proximal step (Duchi and Singer, 2009).

    Args:
        learning_rate: a number or a schedule.
        initial_accumulator_value: start of the sum of squares; positive.
        l1_regularization_strength, l2_regularization_strength: weights of both terms.
        **kwargs: see ``tf.keras.optimizers.Adagrad``.
    """

    def __init__(
        self,
        learning_rate: Any,
        initial_accumulator_value: float = 0.1,
        l1_regularization_strength: float = 0.0,
        l2_regularization_strength: float = 0.0,
        **kwargs: Any,
    ) -> None:
        super().__init__(learning_rate, initial_accumulator_value, **kwargs)
        self.l1_regularization_strength = l1_regularization_strength
        self.l2_regularization_strength = l2_regularization_strength

    def slots(self) -> list[list[Any]]:
        return [self._accumulators]

    def step(self, gradient: Any, rate: Any, weights: Any, squares: Any) -> tuple[Any, ...]:
        squares += tf.square(gradient)
        rate *= tf.math.rsqrt(squares)
        weights = shrunk(weights - rate * gradient, rate * self.l1_regularization_strength)
        return weights / (1.0 + rate * self.l2_regularization_strength), squares

    def get_config(self) -> dict[str, Any]:
        return {
            **super().get_config(),
            "l1_regularization_strength": self.l1_regularization_strength,
            "l2_regularization_strength": self.l2_regularization_strength,
        }


class ProximalGradientDescent(RowUpdates, tf.keras.optimizers.SGD):
    """Gradient descent with L1 and L2 applied as a proximal step (Duchi and Singer, 2009).

    Args:
        learning_rate: a number or a schedule.
        l1_regularization_strength, l2_regularization_strength: weights of both terms.
        **kwargs: see ``tf.keras.optimizers.SGD``.
    """

    def __init__(
        self,
        learning_rate: Any,
        l1_regularization_strength: float = 0.0,
        l2_regularization_strength: float = 0.0,
        **kwargs: Any,
    ) -> None:
        super().__init__(learning_rate, **kwargs)
        self.l1_regularization_strength = l1_regularization_strength
        self.l2_regularization_strength = l2_regularization_strength

    def slots(self) -> list[list[Any]]:
        return []

    def step(self, gradient: Any, rate: Any, weights: Any) -> tuple[Any, ...]:
        weights = shrunk(weights - rate * gradient, rate * self.l1_regularization_strength)
        return (weights / (1.0 + rate * self.l2_regularization_strength),)

    def get_config(self) -> dict[str, Any]:
        return {
            **super().get_config(),
            "l1_regularization_strength": self.l1_regularization_strength,
            "l2_regularization_strength": self.l2_regularization_strength,
        }


class AdagradDA(RowUpdates, tf.keras.optimizers.Ftrl):
    """Adagrad by dual averaging (Duchi et al., 2011), in the slots of Ftrl.

    Args:
        learning_rate: a number or a schedule.
        initial_accumulator_value: start of the sum of squares; positive.
        l1_regularization_strength, l2_regularization_strength: weights of both terms.
    """

    def slots(self) -> list[list[Any]]:
        return [self._linears, self._accumulators]

    def step(self, gradient: Any, rate: Any, weights: Any, total: Any, squares: Any) -> tuple[Any, ...]:
        steps = tf.cast(self.iterations + 1, gradient.dtype)
        total, squares = total + gradient, squares + tf.square(gradient)
        curvature = steps * rate * self.l2_regularization_strength + tf.sqrt(squares)
        return -rate * shrunk(total, steps * self.l1_regularization_strength) / curvature, total, squares

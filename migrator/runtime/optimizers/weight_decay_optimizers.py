"""Optimizers of ``tf.contrib.opt`` that decay weights in their formula, as TensorFlow 1.15 computed them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from migrator.runtime.checkpoints.variable_paths import variable_path
from migrator.runtime.optimizers.optimizers import KernelOptimizer, LearningRate, MomentumOptimizer
from migrator.runtime.optimizers.optimizers_adam import AdamOptimizer


def decay_weights(variable: tf.Variable, gradient: tf.Tensor | tf.IndexedSlices, rate: float) -> None:
    """Shrink a variable by a share of itself; only the rows that a sparse gradient has."""
    if isinstance(gradient, tf.IndexedSlices):
        rows = tf.gather(variable, gradient.indices)
        variable.scatter_sub(tf.IndexedSlices(rate * rows, gradient.indices))
    else:
        variable.assign_sub(rate * variable)


class AdamWOptimizer(AdamOptimizer):
    """``tf.contrib.opt.AdamWOptimizer`` (Loshchilov and Hutter, 2017): weights decay before each step of Adam.

    Gradients are those of the weights before they decay, which TensorFlow 1 left to chance.
    ``tf.keras.optimizers.AdamW`` multiplies the decay by the learning rate.

    Args:
        weight_decay: share of a weight that a step takes away, whatever the learning rate is.
        learning_rate, beta1, beta2, epsilon, name, **kwargs: see ``AdamOptimizer``.
    """

    def __init__(
        self,
        weight_decay: float,
        learning_rate: LearningRate = 0.001,
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-8,
        name: str = "AdamW",
        **kwargs: Any,
    ) -> None:
        super().__init__(learning_rate, beta1, beta2, epsilon, name, **kwargs)
        self.decoupled_decay = weight_decay  # `weight_decay` would be that of Keras

    def update(self, variable: tf.Variable, gradient: tf.Tensor | tf.IndexedSlices, learning_rate: tf.Tensor) -> None:
        decay_weights(variable, gradient, self.decoupled_decay)
        super().update(variable, gradient, learning_rate)

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "weight_decay": self.decoupled_decay}


class MomentumWOptimizer(MomentumOptimizer):
    """``tf.contrib.opt.MomentumWOptimizer`` (Loshchilov and Hutter, 2017): weights decay before each step.

    Gradients are those of the weights before they decay, which TensorFlow 1 left to chance.

    Args:
        weight_decay: share of a weight that a step takes away, whatever the learning rate is.
        learning_rate, momentum, use_nesterov, name, **kwargs: see ``MomentumOptimizer``.
    """

    def __init__(
        self,
        weight_decay: float,
        learning_rate: LearningRate,
        momentum: float,
        use_nesterov: bool = False,
        name: str = "MomentumW",
        **kwargs: Any,
    ) -> None:
        super().__init__(learning_rate, momentum, use_nesterov, name, **kwargs)
        self.decoupled_decay = weight_decay  # `weight_decay` would be that of Keras

    def update(self, variable: tf.Variable, gradient: tf.Tensor | tf.IndexedSlices, learning_rate: tf.Tensor) -> None:
        decay_weights(variable, gradient, self.decoupled_decay)
        super().update(variable, gradient, learning_rate)

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "weight_decay": self.decoupled_decay}


class LARSOptimizer(KernelOptimizer):
    """``tf.contrib.opt.LARSOptimizer`` (You et al., 2017): momentum, with a rate for each variable.

    ``rate = learning_rate * eeta * |var| / (|g| + weight_decay * |var| + epsilon)`` for dense gradients, to which
    ``weight_decay * var`` is added; sparse ones take the learning rate as it is. Keras has no such class.

    Args:
        learning_rate: a number or a schedule.
        momentum: share of the last update that is kept in a step.
        weight_decay: see the formula.
        eeta: see the formula.
        epsilon: see the formula.
        skip_list: variables with one of these texts in their name take the learning rate as it is, without decay.
        use_nesterov: look ahead, see ``MomentumOptimizer``.
        name, **kwargs: see ``KernelOptimizer``.
    """

    hyperparameters = ("momentum", "eeta", "epsilon", "skip_list", "use_nesterov")

    def __init__(
        self,
        learning_rate: LearningRate,
        momentum: float = 0.9,
        weight_decay: float = 0.0001,
        eeta: float = 0.001,
        epsilon: float = 0.0,
        skip_list: Sequence[str] | None = None,
        use_nesterov: bool = False,
        name: str = "LARS",
        **kwargs: Any,
    ) -> None:
        super().__init__(learning_rate, name, **kwargs)
        self.momentum = momentum
        self.own_decay = weight_decay  # `weight_decay` would be that of Keras
        self.eeta = eeta
        self.epsilon = epsilon
        self.skip_list = skip_list
        self.use_nesterov = use_nesterov

    def initial_slots(self) -> dict[str, float]:
        return {"momentum": 0.0}

    def update(self, variable: tf.Variable, gradient: tf.Tensor | tf.IndexedSlices, learning_rate: tf.Tensor) -> None:
        if not isinstance(gradient, tf.IndexedSlices):
            if not any(text in variable_path(variable) for text in self.skip_list or ()):
                learning_rate = learning_rate * self.trust_ratio(variable, gradient)
                gradient = gradient + self.own_decay * variable
            gradient, learning_rate = gradient * learning_rate, tf.ones([], variable.dtype)
        self.run_kernel(
            "Momentum",
            gradient,
            var=variable.handle,
            accum=self.slot("momentum", variable).handle,
            lr=learning_rate,
            momentum=tf.cast(self.momentum, variable.dtype),
            use_nesterov=self.use_nesterov,
        )

    def trust_ratio(self, variable: tf.Variable, gradient: tf.Tensor) -> tf.Tensor:
        """What the learning rate of a variable is multiplied by; 1 where it or its gradient is zero."""
        weight, size = tf.norm(variable, ord=2), tf.norm(gradient, ord=2)
        ratio = self.eeta * weight / (size + self.own_decay * weight + self.epsilon)
        return tf.where((weight > 0.0) & (size > 0.0), ratio, tf.ones_like(ratio))

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "weight_decay": self.own_decay}

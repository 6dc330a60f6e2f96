"""Optimizers of ``tf.contrib.opt``, as TensorFlow 1.15 computed them."""

from __future__ import annotations

import math
from typing import Any

import tensorflow as tf

from migrator.runtime.optimizers.optimizers import KernelOptimizer, LearningRate
from migrator.runtime.optimizers.optimizers_adam import AdamOptimizer


class NadamOptimizer(AdamOptimizer):
    """``tf.contrib.opt.NadamOptimizer`` (Dozat, 2015): Adam with the momentum of Nesterov.

    ``tf.keras.optimizers.Nadam`` changes its momentum from step to step. Arguments as for ``AdamOptimizer``.
    """

    def update(self, variable: tf.Variable, gradient: tf.Tensor | tf.IndexedSlices, learning_rate: tf.Tensor) -> None:
        if isinstance(gradient, tf.IndexedSlices):
            super().update(variable, gradient, learning_rate)
        else:
            tf.raw_ops.ResourceApplyAdam(
                var=variable.handle,
                m=self.slot("m", variable).handle,
                v=self.slot("v", variable).handle,
                beta1_power=tf.cast(self.beta1_power, variable.dtype),
                beta2_power=tf.cast(self.beta2_power, variable.dtype),
                lr=learning_rate,
                beta1=tf.cast(self.beta1, variable.dtype),
                beta2=tf.cast(self.beta2, variable.dtype),
                epsilon=tf.cast(self.epsilon, variable.dtype),
                grad=gradient,
                use_nesterov=True,
            )

    def update_sparse(
        self,
        variable: tf.Variable,
        m: tf.Variable,
        v: tf.Variable,
        gradient: tf.IndexedSlices,
        rate: tf.Tensor,
        beta1: tf.Tensor,
        beta2: tf.Tensor,
    ) -> None:
        """Decay the moments of all rows, and move only the rows of the gradient."""
        values, indices = gradient.values, gradient.indices
        m.assign(m * beta1)
        m.scatter_add(tf.IndexedSlices(values * (1.0 - beta1), indices))
        v.assign(v * beta2)
        v.scatter_add(tf.IndexedSlices(tf.square(values) * (1.0 - beta2), indices))
        ahead = values * (1.0 - beta1) + beta1 * tf.gather(m, indices)
        step = rate * ahead / (tf.sqrt(tf.gather(v, indices)) + self.epsilon)
        variable.scatter_sub(tf.IndexedSlices(step, indices))


class AdaMaxOptimizer(KernelOptimizer):
    """``tf.contrib.opt.AdaMaxOptimizer`` (Kingma and Ba, 2014): Adam with the maximum of past gradients.

    ``tf.keras.optimizers.Adamax`` has another default epsilon (1e-7) and with sparse gradients it moves all rows.

    Args:
        learning_rate: a number or a schedule.
        beta1: share of the first moment that is kept in a step.
        beta2: share of the maximum that is kept in a step.
        epsilon: added to the maximum.
        name, **kwargs: see ``KernelOptimizer``.
    """

    hyperparameters = ("beta1", "beta2", "epsilon")

    def __init__(
        self,
        learning_rate: LearningRate = 0.001,
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-8,
        name: str = "AdaMax",
        **kwargs: Any,
    ) -> None:
        super().__init__(learning_rate, name, **kwargs)
        self.beta1 = beta1
        self.beta2 = beta2
        self.epsilon = epsilon
        initializer = tf.keras.initializers.Constant(beta1)
        self.beta1_power = self.add_variable(shape=(), dtype="float32", initializer=initializer, name="beta1_power")

    def initial_slots(self) -> dict[str, float]:
        return {"m": 0.0, "v": 0.0}

    def update(self, variable: tf.Variable, gradient: tf.Tensor | tf.IndexedSlices, learning_rate: tf.Tensor) -> None:
        beta1, beta2 = tf.cast(self.beta1, variable.dtype), tf.cast(self.beta2, variable.dtype)
        epsilon, power = tf.cast(self.epsilon, variable.dtype), tf.cast(self.beta1_power, variable.dtype)
        m, v = self.slot("m", variable), self.slot("v", variable)
        if isinstance(gradient, tf.IndexedSlices):
            values, indices = gradient.values, gradient.indices
            m_rows = tf.gather(m, indices) * beta1 + values * (1.0 - beta1)
            v_rows = tf.maximum(tf.gather(v, indices) * beta2, tf.abs(values))
            m.scatter_update(tf.IndexedSlices(m_rows, indices))
            v.scatter_update(tf.IndexedSlices(v_rows, indices))
            step = learning_rate / (1.0 - power) * (m_rows / (v_rows + epsilon))
            variable.scatter_sub(tf.IndexedSlices(step, indices))
        else:
            tf.raw_ops.ResourceApplyAdaMax(
                var=variable.handle,
                m=m.handle,
                v=v.handle,
                beta1_power=power,
                lr=learning_rate,
                beta1=beta1,
                beta2=beta2,
                epsilon=epsilon,
                grad=gradient,
            )

    def finish_step(self) -> None:
        """Multiply the power, on each replica its own copy."""
        self.beta1_power.assign(self.beta1_power * self.beta1)


class SignOptimizer(KernelOptimizer):
    """Base of the optimizers of Bello et al., "Neural Optimizer Search with RL" (2017).

    A step is longer where the gradient has the sign of its mean ``m = beta * m + (1 - beta) * g``.
    """

    def initial_slots(self) -> dict[str, float]:
        return {"m": 0.0}

    def factor(self, agreement: tf.Tensor) -> tf.Tensor:
        """What a gradient is multiplied by; `agreement` is 1 where the signs are equal, -1 where they are not, else 0."""
        raise NotImplementedError

    def update_rows(
        self, variable: tf.Variable, gradient: tf.IndexedSlices, learning_rate: tf.Tensor, beta: tf.Tensor
    ) -> None:
        """Decay the mean of all rows, and move only the rows of the gradient."""
        m, values, indices = self.slot("m", variable), gradient.values, gradient.indices
        m.assign(m * beta)
        m.scatter_add(tf.IndexedSlices(values * (1.0 - beta), indices))
        agreement = tf.gather(tf.sign(m), indices) * tf.sign(values)
        variable.scatter_sub(tf.IndexedSlices(learning_rate * self.factor(agreement) * values, indices))


class AddSignOptimizer(SignOptimizer):
    """``tf.contrib.opt.AddSignOptimizer``: ``var -= learning_rate * (alpha + sign(g) * sign(m)) * g``.

    Keras has no such class.

    Args:
        learning_rate: a number or a schedule.
        alpha: see the formula.
        beta: share of the mean gradient that is kept in a step.
        name, **kwargs: see ``KernelOptimizer``.
    """

    hyperparameters = ("alpha", "beta")

    def __init__(
        self,
        learning_rate: LearningRate = 0.1,
        alpha: float = 1.0,
        beta: float = 0.9,
        name: str = "AddSign",
        **kwargs: Any,
    ) -> None:
        super().__init__(learning_rate, name, **kwargs)
        self.alpha = alpha
        self.beta = beta

    def factor(self, agreement: tf.Tensor) -> tf.Tensor:
        return tf.cast(self.alpha, agreement.dtype) + agreement

    def update(self, variable: tf.Variable, gradient: tf.Tensor | tf.IndexedSlices, learning_rate: tf.Tensor) -> None:
        beta = tf.cast(self.beta, variable.dtype)
        if isinstance(gradient, tf.IndexedSlices):
            self.update_rows(variable, gradient, learning_rate, beta)
        else:
            tf.raw_ops.ResourceApplyAddSign(
                var=variable.handle,
                m=self.slot("m", variable).handle,
                lr=learning_rate,
                alpha=tf.cast(self.alpha, variable.dtype),
                sign_decay=tf.ones([], variable.dtype),
                beta=beta,
                grad=gradient,
            )


class PowerSignOptimizer(SignOptimizer):
    """``tf.contrib.opt.PowerSignOptimizer``: ``var -= learning_rate * base ** (sign(g) * sign(m)) * g``.

    Keras has no such class.

    Args:
        learning_rate: a number or a schedule.
        base: see the formula.
        beta: share of the mean gradient that is kept in a step.
        name, **kwargs: see ``KernelOptimizer``.
    """

    hyperparameters = ("base", "beta")

    def __init__(
        self,
        learning_rate: LearningRate = 0.1,
        base: float = math.e,
        beta: float = 0.9,
        name: str = "PowerSign",
        **kwargs: Any,
    ) -> None:
        super().__init__(learning_rate, name, **kwargs)
        self.base = base
        self.beta = beta

    def factor(self, agreement: tf.Tensor) -> tf.Tensor:
        return tf.exp(tf.cast(math.log(self.base), agreement.dtype) * agreement)

    def update(self, variable: tf.Variable, gradient: tf.Tensor | tf.IndexedSlices, learning_rate: tf.Tensor) -> None:
        beta = tf.cast(self.beta, variable.dtype)
        if isinstance(gradient, tf.IndexedSlices):
            self.update_rows(variable, gradient, learning_rate, beta)
        else:
            tf.raw_ops.ResourceApplyPowerSign(
                var=variable.handle,
                m=self.slot("m", variable).handle,
                lr=learning_rate,
                logbase=tf.cast(math.log(self.base), variable.dtype),
                sign_decay=tf.ones([], variable.dtype),
                beta=beta,
                grad=gradient,
            )

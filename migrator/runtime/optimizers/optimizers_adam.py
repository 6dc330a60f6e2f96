"""Adam and its lazy form, as TensorFlow 1 computed them."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from migrator.runtime.optimizers.optimizers import KernelOptimizer, LearningRate


class AdamOptimizer(KernelOptimizer):
    """``tf.compat.v1.train.AdamOptimizer``: sparse gradients move all rows, as their decayed moments say.

    ``tf.keras.optimizers.Adam`` has another default epsilon (1e-7) and raises the betas to the power of the step,
    which is up to 1e-5 of a step off TF1, where the powers are variables that each step multiplies and so rounds. In
    Keras 3 it also squares each occurrence of an id in a batch where TF1 squares their sum.

    Args:
        learning_rate: a number or a schedule.
        beta1: share of the first moment that is kept in a step.
        beta2: share of the second moment that is kept in a step.
        epsilon: added to the root of the second moment, before its bias is corrected ("epsilon hat" of the paper).
        name, **kwargs: see ``KernelOptimizer``.
    """

    hyperparameters = ("beta1", "beta2", "epsilon")

    def __init__(
        self,
        learning_rate: LearningRate = 0.001,
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-8,
        name: str = "Adam",
        **kwargs: Any,
    ) -> None:
        super().__init__(learning_rate, name, **kwargs)
        self.beta1 = beta1
        self.beta2 = beta2
        self.epsilon = epsilon
        self.beta1_power = self.add_power("beta1_power", beta1)
        self.beta2_power = self.add_power("beta2_power", beta2)

    def add_power(self, name: str, beta: float) -> Any:
        """A float32 scalar, which starts as the first power of `beta`."""
        initializer = tf.keras.initializers.Constant(beta)
        return self.add_variable(shape=(), dtype="float32", initializer=initializer, name=name)

    def initial_slots(self) -> dict[str, float]:
        return {"m": 0.0, "v": 0.0}

    def update(self, variable: tf.Variable, gradient: tf.Tensor | tf.IndexedSlices, learning_rate: tf.Tensor) -> None:
        # As in TF1 cast before the subtraction: 1 - beta2 of float32 is 1e-5 off that of Python floats.
        beta1, beta2 = tf.cast(self.beta1, variable.dtype), tf.cast(self.beta2, variable.dtype)
        beta1_power, beta2_power = tf.cast(self.beta1_power, variable.dtype), tf.cast(self.beta2_power, variable.dtype)
        m, v = self.slot("m", variable), self.slot("v", variable)
        if isinstance(gradient, tf.IndexedSlices):
            rate = learning_rate * tf.sqrt(1.0 - beta2_power) / (1.0 - beta1_power)
            self.update_sparse(variable, m, v, gradient, rate, beta1, beta2)
        else:
            tf.raw_ops.ResourceApplyAdam(
                var=variable.handle,
                m=m.handle,
                v=v.handle,
                beta1_power=beta1_power,
                beta2_power=beta2_power,
                lr=learning_rate,
                beta1=beta1,
                beta2=beta2,
                epsilon=tf.cast(self.epsilon, variable.dtype),
                grad=gradient,
            )

    def finish_step(self) -> None:
        """Multiply the powers, on each replica its own copy."""
        self.beta1_power.assign(self.beta1_power * self.beta1)
        self.beta2_power.assign(self.beta2_power * self.beta2)

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
        """Decay the moments of all rows, add the rows of the gradient, move all rows."""
        values, indices = gradient.values, gradient.indices
        m.assign(m * beta1)
        m.scatter_add(tf.IndexedSlices(values * (1.0 - beta1), indices))
        v.assign(v * beta2)
        v.scatter_add(tf.IndexedSlices(tf.square(values) * (1.0 - beta2), indices))
        variable.assign_sub(rate * m / (tf.sqrt(v) + self.epsilon))


class LazyAdamOptimizer(AdamOptimizer):
    """``tf.contrib.opt.LazyAdamOptimizer``: Adam that leaves rows and moments of ids outside the batch as they are.

    No Keras class is lazy. Arguments as for ``AdamOptimizer``.
    """

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
        """Decay and move only the rows of the gradient."""
        values, indices = gradient.values, gradient.indices
        m_rows = beta1 * tf.gather(m, indices) + (1.0 - beta1) * values
        v_rows = beta2 * tf.gather(v, indices) + (1.0 - beta2) * tf.square(values)
        m.scatter_update(tf.IndexedSlices(m_rows, indices))
        v.scatter_update(tf.IndexedSlices(v_rows, indices))
        variable.scatter_sub(tf.IndexedSlices(rate * m_rows / (tf.sqrt(v_rows) + self.epsilon), indices))

"""Optimizers with L1 and L2 regularisation in their formula, as TensorFlow 1 computed them."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from migrator.runtime.optimizers.optimizers import KernelOptimizer, LearningRate


class FtrlOptimizer(KernelOptimizer):
    """``tf.compat.v1.train.FtrlOptimizer`` (McMahan et al., 2013), with the shrinkage-type L2 of TF1.

    ``tf.keras.optimizers.Ftrl`` makes sparse gradients dense, which sets every non-zero row that a batch does not
    contain to zero in the first step.

    Args:
        learning_rate: a number or a schedule.
        learning_rate_power: how fast the learning rate falls with the sum of squares; not positive.
        initial_accumulator_value: start of the sum of squares; not negative.
        l1_regularization_strength: weight of the L1 term.
        l2_regularization_strength: weight of the L2 term that stabilises.
        l2_shrinkage_regularization_strength: weight of the L2 term that penalises large weights.
        name, **kwargs: see ``KernelOptimizer``.
    """

    hyperparameters = (
        "learning_rate_power",
        "initial_accumulator_value",
        "l1_regularization_strength",
        "l2_regularization_strength",
        "l2_shrinkage_regularization_strength",
    )

    def __init__(
        self,
        learning_rate: LearningRate,
        learning_rate_power: float = -0.5,
        initial_accumulator_value: float = 0.1,
        l1_regularization_strength: float = 0.0,
        l2_regularization_strength: float = 0.0,
        l2_shrinkage_regularization_strength: float = 0.0,
        name: str = "Ftrl",
        **kwargs: Any,
    ) -> None:
        super().__init__(learning_rate, name, **kwargs)
        self.learning_rate_power = learning_rate_power
        self.initial_accumulator_value = initial_accumulator_value
        self.l1_regularization_strength = l1_regularization_strength
        self.l2_regularization_strength = l2_regularization_strength
        self.l2_shrinkage_regularization_strength = l2_shrinkage_regularization_strength

    def initial_slots(self) -> dict[str, float]:
        return {"accum": self.initial_accumulator_value, "linear": 0.0}

    def update(self, variable: tf.Variable, gradient: tf.Tensor | tf.IndexedSlices, learning_rate: tf.Tensor) -> None:
        self.run_kernel(
            "FtrlV2",
            gradient,
            var=variable.handle,
            accum=self.slot("accum", variable).handle,
            linear=self.slot("linear", variable).handle,
            lr=learning_rate,
            l1=tf.cast(self.l1_regularization_strength, variable.dtype),
            l2=tf.cast(self.l2_regularization_strength, variable.dtype),
            l2_shrinkage=tf.cast(self.l2_shrinkage_regularization_strength, variable.dtype),
            lr_power=tf.cast(self.learning_rate_power, variable.dtype),
        )


class AdagradDAOptimizer(KernelOptimizer):
    """``tf.compat.v1.train.AdagradDAOptimizer``: Adagrad by dual averaging, for sparse linear models.

    Keras has no such class. The global step that TF1 took as an argument is ``iterations``.

    Args:
        learning_rate: a number or a schedule.
        initial_gradient_squared_accumulator_value: start of the sum of squares; positive.
        l1_regularization_strength: weight of the L1 term.
        l2_regularization_strength: weight of the L2 term.
        name, **kwargs: see ``KernelOptimizer``.
    """

    hyperparameters = (
        "initial_gradient_squared_accumulator_value",
        "l1_regularization_strength",
        "l2_regularization_strength",
    )

    def __init__(
        self,
        learning_rate: LearningRate,
        initial_gradient_squared_accumulator_value: float = 0.1,
        l1_regularization_strength: float = 0.0,
        l2_regularization_strength: float = 0.0,
        name: str = "AdagradDA",
        **kwargs: Any,
    ) -> None:
        super().__init__(learning_rate, name, **kwargs)
        self.initial_gradient_squared_accumulator_value = initial_gradient_squared_accumulator_value
        self.l1_regularization_strength = l1_regularization_strength
        self.l2_regularization_strength = l2_regularization_strength

    def initial_slots(self) -> dict[str, float]:
        squares = self.initial_gradient_squared_accumulator_value
        return {"gradient_accumulator": 0.0, "gradient_squared_accumulator": squares}

    def update(self, variable: tf.Variable, gradient: tf.Tensor | tf.IndexedSlices, learning_rate: tf.Tensor) -> None:
        self.run_kernel(
            "AdagradDA",
            gradient,
            var=variable.handle,
            gradient_accumulator=self.slot("gradient_accumulator", variable).handle,
            gradient_squared_accumulator=self.slot("gradient_squared_accumulator", variable).handle,
            lr=learning_rate,
            l1=tf.cast(self.l1_regularization_strength, variable.dtype),
            l2=tf.cast(self.l2_regularization_strength, variable.dtype),
            global_step=tf.cast(self.iterations + 1, tf.int64),
        )


class ProximalAdagradOptimizer(KernelOptimizer):
    """``tf.compat.v1.train.ProximalAdagradOptimizer``: Adagrad with L1 and L2 applied as a proximal step.

    Keras has no such class.

    Args:
        learning_rate: a number or a schedule.
        initial_accumulator_value: start of the sum of squares; positive.
        l1_regularization_strength: weight of the L1 term.
        l2_regularization_strength: weight of the L2 term.
        name, **kwargs: see ``KernelOptimizer``.
    """

    hyperparameters = ("initial_accumulator_value", "l1_regularization_strength", "l2_regularization_strength")

    def __init__(
        self,
        learning_rate: LearningRate,
        initial_accumulator_value: float = 0.1,
        l1_regularization_strength: float = 0.0,
        l2_regularization_strength: float = 0.0,
        name: str = "ProximalAdagrad",
        **kwargs: Any,
    ) -> None:
        super().__init__(learning_rate, name, **kwargs)
        self.initial_accumulator_value = initial_accumulator_value
        self.l1_regularization_strength = l1_regularization_strength
        self.l2_regularization_strength = l2_regularization_strength

    def initial_slots(self) -> dict[str, float]:
        return {"accumulator": self.initial_accumulator_value}

    def update(self, variable: tf.Variable, gradient: tf.Tensor | tf.IndexedSlices, learning_rate: tf.Tensor) -> None:
        self.run_kernel(
            "ProximalAdagrad",
            gradient,
            var=variable.handle,
            accum=self.slot("accumulator", variable).handle,
            lr=learning_rate,
            l1=tf.cast(self.l1_regularization_strength, variable.dtype),
            l2=tf.cast(self.l2_regularization_strength, variable.dtype),
        )


class ProximalGradientDescentOptimizer(KernelOptimizer):
    """``tf.compat.v1.train.ProximalGradientDescentOptimizer``: gradient descent with a proximal L1 and L2 step.

    Keras has no such class.

    Args:
        learning_rate: a number or a schedule.
        l1_regularization_strength: weight of the L1 term.
        l2_regularization_strength: weight of the L2 term.
        name, **kwargs: see ``KernelOptimizer``.
    """

    hyperparameters = ("l1_regularization_strength", "l2_regularization_strength")

    def __init__(
        self,
        learning_rate: LearningRate,
        l1_regularization_strength: float = 0.0,
        l2_regularization_strength: float = 0.0,
        name: str = "ProximalGradientDescent",
        **kwargs: Any,
    ) -> None:
        super().__init__(learning_rate, name, **kwargs)
        self.l1_regularization_strength = l1_regularization_strength
        self.l2_regularization_strength = l2_regularization_strength

    def update(self, variable: tf.Variable, gradient: tf.Tensor | tf.IndexedSlices, learning_rate: tf.Tensor) -> None:
        arguments = {
            "var": variable.handle,
            "alpha": learning_rate,
            "l1": tf.cast(self.l1_regularization_strength, variable.dtype),
            "l2": tf.cast(self.l2_regularization_strength, variable.dtype),
        }
        if isinstance(gradient, tf.IndexedSlices):
            self.run_kernel("ProximalGradientDescent", gradient, **arguments)
        else:  # the dense kernel names its gradient otherwise
            tf.raw_ops.ResourceApplyProximalGradientDescent(delta=gradient, **arguments)

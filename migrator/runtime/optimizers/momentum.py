"""Momentum and RMSProp of TensorFlow 1, for variables of which each step moves all rows."""

from __future__ import annotations

from typing import Any

import tensorflow as tf


class Momentum(tf.keras.optimizers.SGD):
    """SGD with the momentum of TensorFlow 1: gradients are added up, and their sum is multiplied by the rate of the step.

    ``tf.keras.optimizers.SGD`` adds up gradients times the rates of their steps, which is the same only while the rate
    stays the same. Arguments as there.
    """

    def update_step(self, gradient: Any, variable: tf.Variable, *learning_rate: Any) -> None:
        if not self.momentum:
            super().update_step(gradient, variable, *learning_rate)
            return
        if learning_rate:  # Keras 3
            total, rate = self.momentums[self._get_variable_index(variable)], learning_rate[0]
        else:
            total, rate = self.momentums[self._index_dict[self._var_key(variable)]], self.learning_rate
        gradient = tf.convert_to_tensor(gradient)
        summed = self.momentum * tf.convert_to_tensor(total) + gradient
        total.assign(summed)
        ahead = gradient + self.momentum * summed if self.nesterov else summed
        variable.assign_sub(tf.cast(rate, variable.dtype) * ahead)


class RMSprop(tf.keras.optimizers.RMSprop):
    """RMSProp whose mean of squares starts at one, as in TensorFlow 1.

    In ``tf.keras.optimizers.RMSprop`` it starts at zero, which makes the first steps about three times as long.
    Arguments as there; TensorFlow 1's defaults were ``rho=0.9`` and ``epsilon=1e-10``.
    """

    def add_variable_from_reference(self, variable: Any, name: Any = None, **kwargs: Any) -> Any:
        if name == "velocity":
            keras_3 = "initializer" in kwargs
            kwargs = {"initializer": "ones"} if keras_3 else {"initial_value": tf.ones(variable.shape, variable.dtype)}
        return super().add_variable_from_reference(variable, name, **kwargs)

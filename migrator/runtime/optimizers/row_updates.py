"""Optimizers for tables that are looked up: as in TensorFlow 1 a step moves only those rows that its batch has.

Those of Keras update the other rows as well, as if their gradients were zeros.
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from migrator.runtime.optimizers.momentum import RMSprop
from migrator.runtime.optimizers.summed_rows import summed_rows


class RowUpdates(tf.keras.optimizers.Optimizer):
    """Updates only the rows of a table that a batch has, and variables with dense gradients as a whole.

    A subclass lists in ``slots`` what it keeps, and computes new values in ``step``.
    """

    def slots(self) -> list[list[Any]]:
        """Lists with one variable for each variable that is trained."""
        return []

    def step(self, gradient: tf.Tensor, rate: tf.Tensor, weights: tf.Tensor, *slots: tf.Tensor) -> tuple[Any, ...]:
        """The next weights and slots, all of the shape of the gradient."""
        raise NotImplementedError

    def update_step(self, gradient: Any, variable: tf.Variable, learning_rate: Any = None) -> None:
        if learning_rate is None:  # Keras 2, which has summed up the rows of each id
            learning_rate, index = self.learning_rate, self._index_dict[self._var_key(variable)]
        else:
            gradient, index = summed_rows(gradient), self._get_variable_index(variable)
        rate = tf.cast(tf.convert_to_tensor(learning_rate), variable.dtype)
        slots = [slot[index] for slot in self.slots()]
        variables = [v if isinstance(v, tf.Variable) else v.value for v in (variable, *slots)]
        if isinstance(gradient, tf.IndexedSlices):
            ids = gradient.indices
            values = self.step(gradient.values, rate, *(tf.gather(v, ids) for v in variables))
            for v, value in zip(variables, values):
                v.scatter_update(tf.IndexedSlices(value, ids))
        else:
            for v, value in zip(variables, self.step(gradient, rate, *map(tf.convert_to_tensor, variables))):
                v.assign(value)


class LazyMomentum(RowUpdates, tf.keras.optimizers.SGD):
    """SGD with the momentum of TensorFlow 1: gradients are added up, and their sum is multiplied by the rate of the step.

    Arguments as for ``tf.keras.optimizers.SGD``.
    """

    def slots(self) -> list[list[Any]]:
        return [self.momentums] if self.momentum else []

    def step(self, gradient: Any, rate: Any, weights: Any, total: Any = 0.0) -> tuple[Any, ...]:
        total = self.momentum * total + gradient
        return weights - rate * (gradient + self.momentum * total if self.nesterov else total), total


class LazyRMSprop(RowUpdates, RMSprop):
    """RMSProp as in TensorFlow 1, where the mean of squares starts at one. Arguments as for ``tf.keras.optimizers.RMSprop``."""

    def slots(self) -> list[list[Any]]:
        return [slots for slots in (self._velocities, self._momentums, self._average_gradients) if slots]

    def step(self, gradient: Any, rate: Any, weights: Any, squares: Any, *others: Any) -> tuple[Any, ...]:
        kept: list[Any] = list(others)  # the momentum, if there is any, and the mean gradient, if it is centered
        squares += (1.0 - self.rho) * (tf.square(gradient) - squares)
        variance = squares + self.epsilon
        if self.centered:
            kept[-1] += (1.0 - self.rho) * (gradient - kept[-1])
            variance -= tf.square(kept[-1])
        moved = rate * gradient * tf.math.rsqrt(variance)
        if self.momentum:
            moved = kept[0] = self.momentum * kept[0] + moved
        return (weights - moved, squares, *kept)


class LazyFtrl(RowUpdates, tf.keras.optimizers.Ftrl):
    """Ftrl (McMahan et al., 2013), where rows outside the batch stay as they are.

    ``tf.keras.optimizers.Ftrl`` computes all rows anew, so those that start at other values than zero become zero, and
    all change with the learning rate. Arguments as there, without ``beta``.
    """

    def slots(self) -> list[list[Any]]:
        return [self._accumulators, self._linears]

    def step(self, gradient: Any, rate: Any, weights: Any, squares: Any, linear: Any) -> tuple[Any, ...]:
        l1, power = self.l1_regularization_strength, -self.learning_rate_power
        before = tf.pow(squares, power)
        squares += tf.square(gradient)
        after = tf.pow(squares, power)
        gradient += 2.0 * self.l2_shrinkage_regularization_strength * weights
        linear += gradient - (after - before) / rate * weights
        curvature = after / rate + 2.0 * self.l2_regularization_strength
        weights = tf.math.divide_no_nan(tf.clip_by_value(linear, -l1, l1) - linear, curvature)
        return weights, squares, linear


class LazyAdadelta(RowUpdates, tf.keras.optimizers.Adadelta):
    """Adadelta that leaves rows and means of ids outside the batch as they are.

    Arguments as for ``tf.keras.optimizers.Adadelta``; TensorFlow 1's default was ``epsilon=1e-8``.
    """

    def slots(self) -> list[list[Any]]:
        return [self._accumulated_grads, self._accumulated_delta_vars]

    def step(self, gradient: Any, rate: Any, weights: Any, squares: Any, moves: Any) -> tuple[Any, ...]:
        squares = self.rho * squares + (1.0 - self.rho) * tf.square(gradient)
        move = gradient * tf.sqrt(moves + self.epsilon) * tf.math.rsqrt(squares + self.epsilon)
        return weights - rate * move, squares, self.rho * moves + (1.0 - self.rho) * tf.square(move)


class LazyAdam(RowUpdates, tf.keras.optimizers.Adam):
    """``tf.contrib.opt.LazyAdamOptimizer``: Adam that leaves rows and moments of ids outside the batch as they are.

    Arguments as for ``tf.keras.optimizers.Adam``; TensorFlow 1's default was ``epsilon=1e-8``.
    """

    def slots(self) -> list[list[Any]]:
        return [self._momentums, self._velocities]

    def step(self, gradient: Any, rate: Any, weights: Any, m: Any, v: Any) -> tuple[Any, ...]:
        steps = tf.cast(self.iterations + 1, gradient.dtype)
        m += (1.0 - self.beta_1) * (gradient - m)
        v += (1.0 - self.beta_2) * (tf.square(gradient) - v)
        rate *= tf.sqrt(1.0 - tf.pow(self.beta_2, steps)) / (1.0 - tf.pow(self.beta_1, steps))
        return weights - rate * m / (tf.sqrt(v) + self.epsilon), m, v


class LazyAdamax(RowUpdates, tf.keras.optimizers.Adamax):
    """Adamax that leaves rows and moments of ids outside the batch as they are.

    Arguments as for ``tf.keras.optimizers.Adamax``; TensorFlow 1's default was ``epsilon=1e-8``.
    """

    def slots(self) -> list[list[Any]]:
        return [self._m, self._u]

    def step(self, gradient: Any, rate: Any, weights: Any, m: Any, largest: Any) -> tuple[Any, ...]:
        steps = tf.cast(self.iterations + 1, gradient.dtype)
        m += (1.0 - self.beta_1) * (gradient - m)
        largest = tf.maximum(self.beta_2 * largest, tf.abs(gradient))
        return weights - rate / (1.0 - tf.pow(self.beta_1, steps)) * m / (largest + self.epsilon), m, largest

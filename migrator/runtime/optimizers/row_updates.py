"""Optimizers for tables that are looked up: as in TensorFlow 1 a step moves only those rows that its batch has.

Those of Keras update the other rows as well, as if their gradients were zeros. Each lists in ``slots`` what it keeps of all
variables, and ``step`` computes the new weights and slots from those of some rows.
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from migrator.runtime.optimizers.momentum import RMSprop


class RowUpdates(tf.keras.optimizers.Optimizer):
    """Updates those rows of a table that a batch has: the others, and what is kept of them, stay as they are."""

    def update_step(self, gradient: Any, variable: tf.Variable, learning_rate: Any = None) -> None:
        if learning_rate is None:  # Keras 2
            learning_rate, index = self.learning_rate, self._index_dict[self._var_key(variable)]
        else:
            index = self._get_variable_index(variable)
        rate = tf.cast(tf.convert_to_tensor(learning_rate), variable.dtype)
        kept = [slot[index] for slot in self.slots()]
        variables = [v if isinstance(v, tf.Variable) else v.value for v in (variable, *kept)]
        if isinstance(gradient, tf.IndexedSlices):
            ids, positions = tf.unique(gradient.indices)
            rows = tf.math.unsorted_segment_sum(gradient.values, positions, tf.size(ids))
            for v, new in zip(variables, self.step(rows, rate, *(tf.gather(v, ids) for v in variables))):
                v.scatter_update(tf.IndexedSlices(new, ids))
        else:
            for v, new in zip(variables, self.step(gradient, rate, *map(tf.convert_to_tensor, variables))):
                v.assign(new)


class LazyMomentum(RowUpdates, tf.keras.optimizers.SGD):
    """SGD with the momentum of TensorFlow 1: the rate of a step multiplies the sum of the gradients, not each of them."""

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
    """Ftrl (McMahan et al., 2013) without ``beta``. That of Keras computes all rows anew, also of ids outside the batch."""

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

"""Optimizers whose state is not of the shape of the variables, as the rows and columns of Adafactor."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from migrator.runtime.optimizers.optimizers import KernelOptimizer


class ShapedSlotsOptimizer(KernelOptimizer):
    """Base of optimizers that keep other slots for one variable than for another.

    A subclass gives them in ``slots_of``, in place of ``initial_slots``. Arguments as for ``KernelOptimizer``.
    """

    def slots_of(self, variable: tf.Variable) -> dict[str, float | tf.Tensor]:
        """The state kept for a variable by name: what each element starts as, or a tensor, whose shape and dtype it has."""
        raise NotImplementedError

    def build(self, var_list: list[tf.Variable]) -> None:
        """Create the slots of all variables; called by Keras before the first step."""
        if hasattr(self, "_slots"):
            super().build(var_list)
            return
        super().build(var_list)
        for variable in var_list:
            for name, value in self.slots_of(variable.value if self.keras_3 else variable).items():
                if not isinstance(value, tf.Tensor):
                    value = tf.fill(variable.shape, tf.cast(value, variable.dtype))
                self._slots.setdefault(name, {})[self._var_key(variable)] = self.add_slot(variable, name, value)

    def add_slot(self, variable: tf.Variable, name: str, value: tf.Tensor) -> Any:
        """A slot of a variable, which starts as `value`."""
        if not self.keras_3:
            return self.add_variable_from_reference(variable, name, shape=value.shape, initial_value=value)
        path = f"{variable.path.replace('/', '_')}_{name}"
        with self._distribution_strategy.extended.colocate_vars_with(variable.value):
            return self.add_variable(value.shape, lambda shape, dtype=None: value, value.dtype.name, name=path)

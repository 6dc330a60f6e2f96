"""Optimizers that compute exactly what TensorFlow 1 computed, by calling the same kernels.

Keras has classes of the same names with other formulas. Where they differ the loss of a migrated program drifts from
the first steps on, most of all with a decayed learning rate (momentum) or with the sparse gradients of embeddings
(TensorFlow 1 leaves the rows and slots of ids that a batch does not contain untouched; Keras decays all of them).

Plain Keras is exact for ``GradientDescentOptimizer`` (``SGD``) and, in Keras 2, for ``AdagradOptimizer``
(``Adagrad(epsilon=0.0)``); the other optimizers need a class of this file.

The classes work in ``Model.fit``, with learning rate schedules, in ``tf.train.Checkpoint`` and under ``tf.distribute``.
To load a whole saved model give ``custom_objects``. The kernels for sparse gradients have no XLA version: do not
compile the model with ``jit_compile=True`` (Keras 3: compile it with ``jit_compile=False``).
"""

from __future__ import annotations

from typing import Any, Union

import tensorflow as tf

LearningRate = Union[float, tf.keras.optimizers.schedules.LearningRateSchedule]


class KernelOptimizer(tf.keras.optimizers.Optimizer):
    """Base of the optimizers below: slot variables for Keras 2 and Keras 3, and a choice of kernel.

    A subclass names its slots in ``initial_slots``, its arguments in ``hyperparameters`` and updates one variable in
    ``update``.

    Args:
        learning_rate: a number, or a schedule, which is read at ``iterations`` as TF1 schedules were at the global
            step.
        name: name of the optimizer and prefix of its variables.
        **kwargs: ``clipnorm``, ``clipvalue``, ``global_clipnorm``, ``use_ema`` and others of ``tf.keras.optimizers``.
    """

    hyperparameters: tuple[str, ...] = ()
    keras_3 = hasattr(tf.keras, "ops")

    def __init__(self, learning_rate: LearningRate, name: str, **kwargs: Any) -> None:
        if isinstance(learning_rate, int):
            learning_rate = float(learning_rate)
        kwargs.setdefault("weight_decay", None)
        if self.keras_3:
            super().__init__(learning_rate=learning_rate, name=name, **kwargs)
        else:
            kwargs["jit_compile"] = False  # XLA lacks the sparse kernels
            super().__init__(name=name, **kwargs)
            self._learning_rate = self._build_learning_rate(learning_rate)

    def initial_slots(self) -> dict[str, float]:
        """The state kept for each variable: for each slot its name and the value it is filled with."""
        return {}

    def update(self, variable: tf.Variable, gradient: tf.Tensor | tf.IndexedSlices, learning_rate: tf.Tensor) -> None:
        """Update one variable and its slots. The indices of a sparse gradient are unique."""
        raise NotImplementedError

    def finish_step(self) -> None:
        """Update what the optimizer keeps beside the slots; called once a step, after the variables."""

    def build(self, var_list: list[tf.Variable]) -> None:
        """Create the slots of all variables; called by Keras before the first step."""
        super().build(var_list)
        if hasattr(self, "_slots"):
            return
        self.built = self._built = True
        for variable in var_list:
            if self.keras_3 and not isinstance(variable, tf.Variable):
                variable.value.path = variable.path  # `update` gets the variable inside, which is called "kernel"
        slots: dict[str, dict[Any, tf.Variable]] = {}
        for slot_name, value in self.initial_slots().items():
            slots[slot_name] = {}
            for variable in var_list:
                if self.keras_3:
                    initial: Any = {"initializer": tf.keras.initializers.Constant(value)}
                else:
                    initial = {"initial_value": tf.fill(variable.shape, tf.cast(value, variable.dtype))}
                slot = self.add_variable_from_reference(variable, slot_name, **initial)
                slots[slot_name][self._var_key(variable)] = slot
        self._slots = self._no_dependency(slots)  # the base class tracks the variables

    def slot(self, name: str, variable: tf.Variable) -> tf.Variable:
        """The slot of a variable; of its shape and dtype. KeyError where the optimizer was not built for it."""
        slot = self._slots[name][self._var_key(variable)]
        return slot.value if self.keras_3 else slot

    def update_step(
        self, gradient: tf.Tensor | tf.IndexedSlices, variable: tf.Variable, learning_rate: Any = None
    ) -> None:
        """Called by Keras for each variable; Keras 3 passes the learning rate, Keras 2 keeps it."""
        rate = tf.cast(self.learning_rate if learning_rate is None else learning_rate, variable.dtype)
        if self.keras_3 and isinstance(gradient, tf.IndexedSlices):  # Keras 2 has summed them already
            indices, positions = tf.unique(gradient.indices)
            values = tf.math.unsorted_segment_sum(gradient.values, positions, tf.size(indices))
            gradient = tf.IndexedSlices(values, indices, gradient.dense_shape)
        self.update(variable, gradient, rate)

    def apply_gradients(self, grads_and_vars: Any, *args: Any, **kwargs: Any) -> Any:
        iterations = super().apply_gradients(grads_and_vars, *args, **kwargs)
        if not self.keras_3:  # Keras 3 comes through ``apply``
            self.finish_step()
        return iterations

    def apply(self, grads: Any, trainable_variables: Any = None) -> None:
        super().apply(grads, trainable_variables)
        self.finish_step()

    def run_kernel(self, name: str, gradient: tf.Tensor | tf.IndexedSlices, **arguments: Any) -> None:
        """Run ``ResourceApply<name>``, or ``ResourceSparseApply<name>`` where the gradient is sparse."""
        if isinstance(gradient, tf.IndexedSlices):
            sparse = getattr(tf.raw_ops, f"ResourceSparseApply{name}")
            sparse(grad=gradient.values, indices=gradient.indices, **arguments)
        else:
            getattr(tf.raw_ops, f"ResourceApply{name}")(grad=gradient, **arguments)

    def get_config(self) -> dict[str, Any]:
        config: dict[str, Any] = super().get_config()
        if not self.keras_3:
            config["learning_rate"] = self._serialize_hyperparameter(self._learning_rate)
        return {**config, **{name: getattr(self, name) for name in self.hyperparameters}}


class MomentumOptimizer(KernelOptimizer):
    """``tf.compat.v1.train.MomentumOptimizer``: ``accum = momentum * accum + g; var -= learning_rate * accum``.

    ``tf.keras.optimizers.SGD(momentum=...)`` multiplies the gradient by the learning rate before it accumulates it,
    so the two part as soon as the learning rate changes; and with sparse gradients it moves all rows, not only those
    of the batch.

    Args:
        learning_rate: a number or a schedule.
        momentum: share of the accumulated gradient that is kept in a step.
        use_nesterov: look ahead: ``var -= learning_rate * (g + momentum * accum)``.
        name, **kwargs: see ``KernelOptimizer``.
    """

    hyperparameters = ("momentum", "use_nesterov")

    def __init__(
        self,
        learning_rate: LearningRate,
        momentum: float,
        use_nesterov: bool = False,
        name: str = "Momentum",
        **kwargs: Any,
    ) -> None:
        super().__init__(learning_rate, name, **kwargs)
        self.momentum = momentum
        self.use_nesterov = use_nesterov

    def initial_slots(self) -> dict[str, float]:
        return {"momentum": 0.0}

    def update(self, variable: tf.Variable, gradient: tf.Tensor | tf.IndexedSlices, learning_rate: tf.Tensor) -> None:
        self.run_kernel(
            "Momentum",
            gradient,
            var=variable.handle,
            accum=self.slot("momentum", variable).handle,
            lr=learning_rate,
            momentum=tf.cast(self.momentum, variable.dtype),
            use_nesterov=self.use_nesterov,
        )


class RMSPropOptimizer(KernelOptimizer):
    """``tf.compat.v1.train.RMSPropOptimizer``: ``mom = momentum * mom + learning_rate * g / sqrt(rms + epsilon)``.

    ``tf.keras.optimizers.RMSprop`` starts the mean square ``rms`` at zero where TF1 starts it at one, so its first
    steps are about three times as long; its default epsilon is 1e-7; and sparse gradients decay the ``rms`` of all
    rows.

    Args:
        learning_rate: a number or a schedule.
        decay: share of the mean square that is kept in a step (``rho`` in Keras).
        momentum: share of the last update that is kept in a step.
        epsilon: added to the mean square under the root.
        centered: divide by the variance of the gradient instead of its mean square.
        name, **kwargs: see ``KernelOptimizer``.
    """

    hyperparameters = ("decay", "momentum", "epsilon", "centered")

    def __init__(
        self,
        learning_rate: LearningRate,
        decay: float = 0.9,
        momentum: float = 0.0,
        epsilon: float = 1e-10,
        centered: bool = False,
        name: str = "RMSProp",
        **kwargs: Any,
    ) -> None:
        super().__init__(learning_rate, name, **kwargs)
        self.decay = decay
        self.momentum = momentum
        self.epsilon = epsilon
        self.centered = centered

    def initial_slots(self) -> dict[str, float]:
        slots = {"rms": 1.0, "momentum": 0.0}
        return {**slots, "mg": 0.0} if self.centered else slots

    def update(self, variable: tf.Variable, gradient: tf.Tensor | tf.IndexedSlices, learning_rate: tf.Tensor) -> None:
        mean = {"mg": self.slot("mg", variable).handle} if self.centered else {}
        self.run_kernel(
            "CenteredRMSProp" if self.centered else "RMSProp",
            gradient,
            var=variable.handle,
            ms=self.slot("rms", variable).handle,
            mom=self.slot("momentum", variable).handle,
            lr=learning_rate,
            rho=tf.cast(self.decay, variable.dtype),
            momentum=tf.cast(self.momentum, variable.dtype),
            epsilon=tf.cast(self.epsilon, variable.dtype),
            **mean,
        )


class AdagradOptimizer(KernelOptimizer):
    """``tf.compat.v1.train.AdagradOptimizer``: ``accum += g * g; var -= learning_rate * g / sqrt(accum)``.

    ``tf.keras.optimizers.Adagrad(epsilon=0.0)`` is the same in Keras 2, but not in Keras 3, which squares each
    occurrence of an id in a batch where TF1 squares their sum.

    Args:
        learning_rate: a number or a schedule.
        initial_accumulator_value: start of the sum of squares; positive.
        name, **kwargs: see ``KernelOptimizer``.
    """

    hyperparameters = ("initial_accumulator_value",)

    def __init__(
        self,
        learning_rate: LearningRate,
        initial_accumulator_value: float = 0.1,
        name: str = "Adagrad",
        **kwargs: Any,
    ) -> None:
        super().__init__(learning_rate, name, **kwargs)
        self.initial_accumulator_value = initial_accumulator_value

    def initial_slots(self) -> dict[str, float]:
        return {"accumulator": self.initial_accumulator_value}

    def update(self, variable: tf.Variable, gradient: tf.Tensor | tf.IndexedSlices, learning_rate: tf.Tensor) -> None:
        accumulator = self.slot("accumulator", variable)
        self.run_kernel("Adagrad", gradient, var=variable.handle, accum=accumulator.handle, lr=learning_rate)


class AdadeltaOptimizer(KernelOptimizer):
    """``tf.compat.v1.train.AdadeltaOptimizer``: steps of the size ``rms(past updates) / rms(past gradients)``.

    ``tf.keras.optimizers.Adadelta`` has another default epsilon (1e-7), and with sparse gradients it decays the slots
    of all rows.

    Args:
        learning_rate: a number or a schedule; TF1's default is 0.001.
        rho: share of both means that is kept in a step.
        epsilon: added to both means under the root.
        name, **kwargs: see ``KernelOptimizer``.
    """

    hyperparameters = ("rho", "epsilon")

    def __init__(
        self,
        learning_rate: LearningRate = 0.001,
        rho: float = 0.95,
        epsilon: float = 1e-8,
        name: str = "Adadelta",
        **kwargs: Any,
    ) -> None:
        super().__init__(learning_rate, name, **kwargs)
        self.rho = rho
        self.epsilon = epsilon

    def initial_slots(self) -> dict[str, float]:
        return {"accum": 0.0, "accum_update": 0.0}

    def update(self, variable: tf.Variable, gradient: tf.Tensor | tf.IndexedSlices, learning_rate: tf.Tensor) -> None:
        self.run_kernel(
            "Adadelta",
            gradient,
            var=variable.handle,
            accum=self.slot("accum", variable).handle,
            accum_update=self.slot("accum_update", variable).handle,
            lr=learning_rate,
            rho=tf.cast(self.rho, variable.dtype),
            epsilon=tf.cast(self.epsilon, variable.dtype),
        )

"""Moving averages of weights, with the numerics of `tf.train.ExponentialMovingAverage`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow as tf


class WeightAverages(tf.Module):
    """Keeps a moving average of each weight, which begins with the value that the weight has before the first step.

    average -= (1 - decay) * (average - weight), after each step; tf.compat.v1.train.ExponentialMovingAverage.
    """

    def __init__(self, decay: float) -> None:
        super().__init__()
        self.decay = decay
        self.averages: list[tf.Variable] = []
        self.begun = tf.Variable(False, trainable=False, aggregation=tf.VariableAggregation.ONLY_FIRST_REPLICA)

    def build(self, weights: Sequence[tf.Variable]) -> None:
        """Creates the averages, if there are none yet."""
        if not self.averages:
            first = tf.VariableAggregation.ONLY_FIRST_REPLICA  # the weights are the same on all replicas
            with tf.init_scope():
                self.averages.extend(  # in this list, which a checkpoint that was read has values for
                    tf.Variable(tf.zeros(weight.shape, weight.dtype), trainable=False, aggregation=first)
                    for weight in weights
                )

    def begin(self, weights: Sequence[tf.Variable]) -> None:
        """Has to come before each step."""
        self.build(weights)
        for average, weight in zip(self.averages, weights):
            average.assign(tf.where(self.begun, average, weight))
        self.begun.assign(True)

    def update(self, weights: Sequence[tf.Variable], steps: Any = None) -> None:
        """Has to come after each step; with `steps`, the number of steps so far, the decay is smaller at first."""
        decay = self.decay
        if steps is not None:
            steps = tf.cast(steps, tf.float32)
            decay = tf.minimum(decay, (1.0 + steps) / (10.0 + steps))
        for average, weight in zip(self.averages, weights):
            average.assign_sub((average - weight) * tf.cast(1.0 - decay, weight.dtype))


class AveragedWeights(tf.keras.callbacks.Callback):
    """Puts the averages in the place of the weights of `model` while it is evaluated, or inside a `with` statement."""

    def __init__(self, model: tf.keras.Model, averages: WeightAverages) -> None:
        super().__init__()
        self.owner, self.averages = model, averages
        self.held: list[Any] = []

    def __enter__(self) -> None:
        if self.averages.begun.numpy():
            self.held = [tf.identity(weight) for weight in self.owner.trainable_variables]
            self.give(self.averages.averages)

    def __exit__(self, *error: Any) -> None:
        self.give(self.held)
        self.held = []

    def give(self, values: Sequence[Any]) -> None:
        for weight, value in zip(self.owner.trainable_variables, values):
            weight.assign(value)

    def on_test_begin(self, logs: Any = None) -> None:
        self.__enter__()

    def on_test_end(self, logs: Any = None) -> None:
        self.__exit__()


class AveragedStep:
    """A `predict_step` with the averages in the place of the weights."""

    def __init__(self, predict_step: Any, averaged: AveragedWeights) -> None:
        self.predict_step, self.averaged = predict_step, averaged
        self.get_concrete_function = predict_step.get_concrete_function

    def __call__(self, data: Any) -> Any:
        with self.averaged:
            return self.predict_step(data)


def use_averages(
    model: tf.keras.Model, averages: WeightAverages, evaluation: bool = True, prediction: bool = True
) -> tf.keras.Model:
    """`model`, which is evaluated and predicts with `averages`, as with `variables_to_restore` in a Saver of TensorFlow 1.

    Raises ValueError for a model on parameter servers.
    """
    if isinstance(model.distribute_strategy, tf.distribute.experimental.ParameterServerStrategy):
        raise ValueError("Averages of weights on parameter servers cannot take the place of the weights.")
    state = model.run_state
    averaged, restore = AveragedWeights(model, averages), state.checkpoints.restore

    def restore_with_averages(path: str | None = None, with_optimizer: bool = False) -> None:
        averages.build(model.trainable_variables)
        restore(path, with_optimizer)

    state.checkpoints.restore = restore_with_averages
    if evaluation:
        state.evaluation_callbacks.append(averaged)
    if prediction:
        state.predict_step = AveragedStep(state.predict_step, averaged)
    return model

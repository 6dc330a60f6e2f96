"""How a model is trained and evaluated on one device."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from migrator.runtime.layers.keras_3_layers import compute_as_keras_2
from migrator.runtime.training.execution import StepGrouper


class LocalRun:
    """What `train` and `evaluate` leave to the place where they run: one device; classes derived from it know others."""

    def __init__(self, model: tf.keras.Model) -> None:
        self.model, self.state, self.config = model, model.run_state, model.run_config

    def input_context(self, mode: str) -> tf.distribute.InputContext | None:
        """Which part of the examples an `input_fn` may read, if it is told."""
        return None

    def create_variables(self, spec: Any, training: bool) -> Any:
        """Creates all variables by tracing what Keras will run on batches of this spec, and returns it; no data are read."""
        model = self.model
        model.steps_per_execution = self.state.steps_per_execution  # Keras makes a loop only if there are several
        function = model.make_train_function() if training else model.make_test_function()
        if hasattr(function, "get_concrete_function"):
            try:
                return function.get_concrete_function(tf.data.IteratorSpec(spec))
            except Exception:
                model.steps_per_execution = 1  # AutoGraph tells of an error in a loop without the line that it is in
                make = model.make_train_function if training else model.make_test_function
                make(force=True).get_concrete_function(tf.data.IteratorSpec(spec))
                raise
        features, *rest = spec if isinstance(spec, tuple) else (spec,)  # Keras 3, or a model that runs eagerly
        fed = {"labels": rest[0]} if rest and "labels" in inspect.signature(model.call).parameters else {}
        tf.function(lambda x, **fed: model(x, training=training, **fed)).get_concrete_function(features, **fed)
        if hasattr(tf.keras, "ops"):
            compute_as_keras_2(model)  # with those that layers make when they are built
        return model.optimizer.build(model.trainable_variables)

    def fit(self, dataset: tf.data.Dataset, steps: int | None, callbacks: Sequence[Any], grouped: bool) -> None:
        """Trains for `steps`, else until data end or a callback stops; `grouped`: Keras may run several steps in one call."""
        saves = self.config.save_checkpoints_steps or self.config.save_checkpoints_secs
        all_callbacks = [self.state.logger, *([self.state.checkpoints] if saves else []), *callbacks]
        all_callbacks += [self.step_grouper()] if grouped else []
        batches, number = self.batches(dataset, steps)
        self.model.steps_per_execution = 1
        self.model.fit(batches, steps_per_epoch=number, callbacks=all_callbacks, verbose=0)
        self.model.steps_per_execution = self.state.steps_per_execution

    def batches(self, dataset: tf.data.Dataset, steps: int | None) -> tuple[Any, int | None]:
        """What Keras is to train on, and the number of steps that it has to be told."""
        endless = steps is None and dataset.cardinality() == tf.data.INFINITE_CARDINALITY
        return dataset if steps is None else dataset.take(steps), -1 if endless else None

    def step_grouper(self) -> StepGrouper:
        config = self.config
        intervals = [config.log_step_count_steps, config.save_summary_steps, config.save_checkpoints_steps]
        return StepGrouper(self.state.steps_per_execution, intervals)

    def evaluation_batches(self, dataset: tf.data.Dataset, steps: int | None) -> tuple[Any, Any]:
        """The spec of what `test_step` gets, and the batches to evaluate on."""
        return dataset.element_spec, dataset if steps is None else dataset.take(steps)

    def evaluate(self, batches: Any, callbacks: Sequence[Any]) -> dict[str, Any]:
        """The metrics over all batches, or nothing where there are none, which Keras refuses if it can foresee it."""
        if batches.cardinality() == 0:
            return {}
        if callbacks or not batches.cardinality() > 0:  # Keras cannot group batches of an unknown number
            self.model.steps_per_execution = 1
        results: dict[str, Any] = self.model.evaluate(batches, callbacks=callbacks, verbose=0, return_dict=True)
        return results

    def mean_loss(self, loss: tf.keras.metrics.Mean) -> tf.Tensor:
        """The result of the metric in a train step."""
        return loss.result()

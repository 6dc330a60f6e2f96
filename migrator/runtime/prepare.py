"""Brings a model to the state from which it trains, evaluates or predicts."""

from __future__ import annotations

import random
from typing import Any, Callable

import numpy as np
import tensorflow as tf

from migrator.runtime.checkpoints import Checkpoints
from migrator.runtime.config import RunConfig
from migrator.runtime.execution import steps_per_call
from migrator.runtime.inputs import ModeKeys, call_input_fn
from migrator.runtime.summaries import SummaryWriters


class RunState:
    """What a configured model remembers between calls, as `model.run_state`; Keras neither tracks nor saves it."""

    def __init__(self, model: tf.keras.Model, config: RunConfig, params: Any) -> None:
        self.params = params
        self.steps_per_execution = int(model.steps_per_execution)
        self.checkpoints = Checkpoints(model, config)
        self.writers = SummaryWriters()
        self.predict_functions: dict[str, Any] = {}


def prepare_dataset(model: tf.keras.Model, input_fn: Callable[..., Any], mode: str) -> tf.data.Dataset:
    """Sets the seed of the run, then calls `input_fn`, as each of `train`, `evaluate` and `predict` begins."""
    if model.run_config.tf_random_seed is not None:
        set_seed(model.run_config.tf_random_seed)
    params = model.run_state.params
    return call_input_fn(input_fn, mode, getattr(model, "params", None) if params is None else params, model.run_config)


def set_seed(seed: int) -> None:
    """Seeds TensorFlow and Keras, but neither `random` nor `numpy.random`, which `tf.keras.utils` seeds as well."""
    python_state, numpy_state = random.getstate(), np.random.get_state()
    tf.keras.utils.set_random_seed(seed)
    random.setstate(python_state)
    np.random.set_state(numpy_state)


def prepare_model(model: tf.keras.Model, dataset: tf.data.Dataset, mode: str, checkpoint: str | None = None) -> None:
    """Creates the variables, then loads `checkpoint` (None: the newest) unless the model holds it.

    The variables are created by tracing what Keras will run with the shapes of `dataset`; no data are read.
    """
    state = model.run_state
    spec = dataset.element_spec
    if mode == ModeKeys.PREDICT:
        predict_function(model, spec)
    elif isinstance(model.steps_per_execution, int):  # Keras 3, whose train function is no tf.function
        features = spec[0] if isinstance(spec, tuple) else spec
        if not model.built:
            tf.function(lambda inputs: model(inputs, training=True)).get_concrete_function(features)
        if mode == ModeKeys.TRAIN:
            model.optimizer.build(model.trainable_variables)
    elif mode == ModeKeys.TRAIN:
        with steps_per_call(model, state.steps_per_execution):
            model.make_train_function().get_concrete_function(tf.data.IteratorSpec(spec))
    else:
        with steps_per_call(model, state.steps_per_execution):
            model.make_test_function().get_concrete_function(tf.data.IteratorSpec(spec))
    state.checkpoints.restore(checkpoint, with_optimizer=mode == ModeKeys.TRAIN)
    if mode != ModeKeys.TRAIN and checkpoint is None and state.checkpoints.latest() is None:
        tf.get_logger().info(
            "Could not find trained model in model_dir: %s, using the model as it is.", model.run_config.model_dir
        )


def predict_function(model: tf.keras.Model, spec: Any) -> Any:
    """`model.predict_step` as a graph for batches of features of this spec, traced once."""
    functions = model.run_state.predict_functions
    key = repr(spec)
    if key not in functions:
        functions[key] = tf.function(model.predict_step, input_signature=[spec])
        functions[key].get_concrete_function()
    return functions[key]

"""Brings a model to the state from which it trains, evaluates or predicts."""

from __future__ import annotations

import random
from typing import Any, Callable

import numpy as np
import tensorflow as tf

from migrator.runtime.inputs import call_input_fn


def read_input(model: tf.keras.Model, input_fn: Callable[..., Any], mode: str) -> tf.data.Dataset:
    """Sets the seed of the run, then calls `input_fn`, as each of `train`, `evaluate` and `predict` begins."""
    if model.run_config.tf_random_seed is not None:
        states = random.getstate(), np.random.get_state()
        tf.keras.utils.set_random_seed(model.run_config.tf_random_seed)
        random.setstate(states[0])  # the seed is one for TensorFlow alone
        np.random.set_state(states[1])
    params = model.run_state.params
    return call_input_fn(input_fn, mode, getattr(model, "params", None) if params is None else params, model.run_config)


def create_variables(model: tf.keras.Model, spec: Any, training: bool) -> None:
    """Creates all variables by tracing what Keras will run on batches of this spec; no data are read."""
    model.steps_per_execution = model.run_state.steps_per_execution  # Keras makes a loop only if there are several
    function = model.make_train_function() if training else model.make_test_function()
    if hasattr(function, "get_concrete_function"):
        function.get_concrete_function(tf.data.IteratorSpec(spec))
    else:  # Keras 3, or a model that runs eagerly
        features = spec[0] if isinstance(spec, tuple) else spec
        tf.function(lambda inputs: model(inputs, training=training)).get_concrete_function(features)
        model.optimizer.build(model.trainable_variables)

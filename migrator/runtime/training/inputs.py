"""From an `input_fn` to a `tf.data.Dataset`."""

from __future__ import annotations

import inspect
from typing import Any, Callable

import tensorflow as tf


class ModeKeys:
    """What an `input_fn` that takes `mode` is called for."""

    TRAIN = "train"
    EVAL = "eval"
    PREDICT = "infer"


def read_input(model: tf.keras.Model, input_fn: Callable[..., Any], mode: str) -> tf.data.Dataset:
    """Calls `input_fn` with those of `mode`, `params`, `config` and `input_context` that it names; seeds TensorFlow.

    Returns a dataset of (features, labels) or features. One batch of tensors becomes a dataset that repeats it.
    """
    seed, params = model.run_config.tf_random_seed, model.run_state.params
    if seed is not None:
        tf.random.set_seed(seed)  # and nothing else: `random` and NumPy are the program's own
    offered = {"mode": mode, "config": model.run_config}
    params = getattr(model, "params", None) if params is None else params
    # Those of a TPUEstimator differ by mode; flags of absl, say, can be called as well, and are handed on.
    offered["params"] = params(mode) if isinstance(params, dict) and callable(params) else params
    named = inspect.signature(input_fn).parameters
    context = model.run_state.run.input_context(mode)
    if context is None and "input_context" in named and named["input_context"].default is inspect.Parameter.empty:
        context = tf.distribute.InputContext()
    if context is not None:
        offered["input_context"] = context
    with tf.device("/cpu:0"):
        data = input_fn(**{name: value for name, value in offered.items() if name in named})
        if isinstance(data, tf.data.Dataset):
            return data
        if isinstance(data, (list, tuple)):
            if len(data) not in (1, 2):
                raise ValueError(f"input_fn must return (features, labels), given {len(data)} values.")
            data = data[0] if len(data) == 1 or data[1] is None else tuple(data)
        return tf.data.Dataset.from_tensors(data).repeat()

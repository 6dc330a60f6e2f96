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


def call_input_fn(input_fn: Callable[..., Any], mode: str, params: Any, config: Any) -> tf.data.Dataset:
    """Calls `input_fn` with those of `mode`, `params`, `config` and `input_context` that it names.

    Returns:
      A dataset of (features, labels) or features. One batch of tensors becomes a dataset that repeats it forever.
    """
    if not callable(input_fn):
        raise TypeError(f"input_fn must be a function, given: {input_fn!r}")
    offered = {"mode": mode, "params": params, "config": config, "input_context": tf.distribute.InputContext()}
    named = inspect.signature(input_fn).parameters
    with tf.device("/cpu:0"):
        data = input_fn(**{name: value for name, value in offered.items() if name in named})
        if isinstance(data, tf.data.Dataset):
            return data
        if isinstance(data, (list, tuple)):
            if len(data) not in (1, 2):
                raise ValueError(
                    f"input_fn must return (features, labels), given a {type(data).__name__} of {len(data)}."
                )
            data = data[0] if len(data) == 1 or data[1] is None else tuple(data)
        return tf.data.Dataset.from_tensors(data).repeat()

"""Optimizers of TensorFlow 1 by name, as canned Estimators take them."""

from __future__ import annotations

from typing import Any

import tensorflow as tf


def get_optimizer_instance(opt: Any, learning_rate: float | None = None) -> Any:
    """The optimizer that `opt` is, makes, or names: Adagrad, Adam, Ftrl, RMSProp or SGD, with `learning_rate`.

    Raises ValueError for other names, and for what is no optimizer.
    """
    train = tf.compat.v1.train
    named = {
        "Adagrad": train.AdagradOptimizer,
        "Adam": train.AdamOptimizer,
        "Ftrl": train.FtrlOptimizer,
        "RMSProp": train.RMSPropOptimizer,
        "SGD": train.GradientDescentOptimizer,
    }
    if isinstance(opt, str):
        if opt not in named:
            raise ValueError(f"Unsupported optimizer name: {opt}. Supported names are: {sorted(named)}")
        if not learning_rate:
            raise ValueError("learning_rate must be specified when opt is string.")
        return named[opt](learning_rate=learning_rate)
    opt = opt() if callable(opt) else opt
    if not isinstance(opt, train.Optimizer):
        raise ValueError(f"The given object is not an Optimizer instance. Given: {opt}")
    return opt

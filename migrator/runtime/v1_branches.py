"""Optimizers of TensorFlow 1 that take their step in a branch of ``tf.cond``."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import tensorflow as tf


@contextlib.contextmanager
def gradients_outside_branches() -> Iterator[None]:
    """Lets optimizers differentiate in the graph of their loss: a branch is a graph of its own in TensorFlow 2, without it."""
    optimizer = tf.compat.v1.train.Optimizer
    compute_gradients = optimizer.compute_gradients

    def compute_outside(self: Any, loss: Any, *args: Any, **named: Any) -> Any:
        with getattr(loss, "graph", tf.compat.v1.get_default_graph()).as_default():
            return compute_gradients(self, loss, *args, **named)

    optimizer.compute_gradients = compute_outside
    try:
        yield
    finally:
        optimizer.compute_gradients = compute_gradients

"""What graphs of TensorFlow 1 do, and functions of TensorFlow 2 do not."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import tensorflow as tf


@contextlib.contextmanager
def graph_behavior() -> Iterator[None]:
    """Around the making of a graph: `==` and `in` ask for the same tensor, and optimizers work in branches.

    A branch of ``tf.cond`` is a graph of its own in TensorFlow 2, in which the loss cannot be differentiated; they do that
    in the graph of the loss.
    """
    optimizer = tf.compat.v1.train.Optimizer
    compute_gradients = optimizer.compute_gradients

    def compute_outside(self: Any, loss: Any, *args: Any, **named: Any) -> Any:
        with getattr(loss, "graph", tf.compat.v1.get_default_graph()).as_default():
            return compute_gradients(self, loss, *args, **named)

    optimizer.compute_gradients = compute_outside
    tf.compat.v1.disable_tensor_equality()
    try:
        yield
    finally:
        tf.compat.v1.enable_tensor_equality()
        optimizer.compute_gradients = compute_gradients

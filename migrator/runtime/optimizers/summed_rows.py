"""Optimizers of Keras for tables that are looked up, which compute the same with Keras 2 and Keras 3."""

from __future__ import annotations

from typing import Any

import tensorflow as tf


def summed_rows(gradient: Any) -> Any:
    """A gradient; where it is sparse, the rows of an id that the batch has several times are added up."""
    if not isinstance(gradient, tf.IndexedSlices):
        return gradient
    ids, positions = tf.unique(gradient.indices)
    rows = tf.math.unsorted_segment_sum(gradient.values, positions, tf.size(ids))
    return tf.IndexedSlices(rows, ids, gradient.dense_shape)


class Adam(tf.keras.optimizers.Adam):
    """Adds up the gradients of an id that a batch has several times: Keras 3 would square each, Keras 2 has added them up."""

    def update_step(self, gradient: Any, variable: tf.Variable, *rate: Any) -> None:
        super().update_step(summed_rows(gradient) if rate else gradient, variable, *rate)  # Keras 3 gives the rate


class Adagrad(tf.keras.optimizers.Adagrad):
    """Adds up the gradients of an id that a batch has several times: Keras 3 would square each, Keras 2 has added them up."""

    def update_step(self, gradient: Any, variable: tf.Variable, *rate: Any) -> None:
        super().update_step(summed_rows(gradient) if rate else gradient, variable, *rate)  # Keras 3 gives the rate

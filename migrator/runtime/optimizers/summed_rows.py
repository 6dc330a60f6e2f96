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


class SummedRows(tf.keras.optimizers.Optimizer):
    """Adds up the gradients of an id that a batch has several times, as TensorFlow 1 and Keras 2 do.

    Keras 3 takes them one by one, so that it squares each of them instead of their sum.
    """

    def update_step(self, gradient: Any, variable: tf.Variable, *learning_rate: Any) -> None:
        if learning_rate:  # given by Keras 3; Keras 2 has added them up
            gradient = summed_rows(gradient)
        super().update_step(gradient, variable, *learning_rate)


class Adam(SummedRows, tf.keras.optimizers.Adam):
    """``tf.keras.optimizers.Adam`` for tables that are looked up."""


class Adagrad(SummedRows, tf.keras.optimizers.Adagrad):
    """``tf.keras.optimizers.Adagrad`` for tables that are looked up."""

"""Summaries of layers for TensorBoard, as canned Estimators write them while they train."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Callable

import tensorflow as tf


def when_recording(write: Callable[[], None]) -> None:
    """Calls `write` in steps whose summaries are written, on the first replica; nothing is computed in others."""

    def written() -> tf.Tensor:
        with tf.name_scope(""):  # so that Keras puts no prefix before the tags
            write()
        return tf.constant(True)

    context = tf.distribute.get_replica_context()
    first = context is None or tf.equal(context.replica_id_in_sync_group, 0)
    tf.cond(tf.logical_and(tf.summary.should_record_summaries(), first), written, lambda: tf.constant(False))


def write_outputs(outputs: Mapping[str, tf.Tensor]) -> None:
    """Writes the share of zeros in the outputs of layers, by their tags, and a histogram of each."""
    for tag, output in outputs.items():
        tf.summary.scalar(f"{tag}/fraction_of_zero_values", tf.math.zero_fraction(output))
        tf.summary.histogram(f"{tag}/activation", output)


def write_weights(scope: str, layer: Any) -> None:
    """Writes the bias of a linear model with a bias of shape ``[units]``, and the share of zeros in its other weights.

    Args:
        scope: what the tags begin with, ``linear/`` for example.
    """
    if layer.units == 1:
        tf.summary.scalar(f"{scope}bias", layer.bias[0])
    else:
        tf.summary.histogram(f"{scope}bias", layer.bias)
    others = [tf.reshape(weight, [-1]) for weight in layer.weights if weight is not layer.bias]
    tf.summary.scalar(f"{scope}fraction_of_zero_weights", tf.math.zero_fraction(tf.concat(others, axis=0)))

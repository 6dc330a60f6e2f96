"""Mean errors of predictions, where labels and predictions may differ by a last axis of size one."""

from __future__ import annotations

from typing import Any

import tensorflow as tf


def same_rank(values: Any, others: Any) -> tuple[tf.Tensor, tf.Tensor]:
    """Drops the last axis, of size one, of the one that has one axis more: ``[batch, 1]`` beside ``[batch]``."""
    values, others = tf.convert_to_tensor(values), tf.convert_to_tensor(others)
    difference = values.shape.rank - others.shape.rank
    if difference == 1 and values.shape[-1] in (1, None):
        values = tf.squeeze(values, axis=-1)
    elif difference == -1 and others.shape[-1] in (1, None):
        others = tf.squeeze(others, axis=-1)
    return values, others


def weights_of(values: tf.Tensor, weights: Any) -> tf.Tensor:
    """Weights as float32 of the shape of the values: ones if None, else of all, of each example, or of each value."""
    if weights is None:
        return tf.ones_like(values, tf.float32)
    weights = tf.cast(weights, tf.float32)
    if 0 < weights.shape.rank < values.shape.rank:
        weights = weights[..., tf.newaxis]
    elif weights.shape.rank > values.shape.rank:
        weights = tf.squeeze(weights, axis=-1)
    return tf.broadcast_to(weights, tf.shape(values))


class MeanRelativeError(tf.keras.metrics.Mean):
    """``tf.compat.v1.metrics.mean_relative_error``: errors divided by a normalizer, zero where that is zero."""

    def update_state(self, labels: Any, predictions: Any, normalizer: Any, sample_weight: Any = None) -> Any:
        """Add a batch; the normalizer is of the shape of the predictions."""
        labels, predictions = same_rank(labels, predictions)
        predictions, normalizer = same_rank(predictions, normalizer)
        errors = tf.math.divide_no_nan(tf.abs(labels - predictions), normalizer)
        return super().update_state(errors, sample_weight=sample_weight)


class MeanCosineDistance(tf.keras.metrics.Mean):
    """``tf.compat.v1.metrics.mean_cosine_distance`` of vectors of length one along ``dim``."""

    def __init__(self, dim: int, name: str = "mean_cosine_distance", **kwargs: Any) -> None:
        super().__init__(name=name, **kwargs)
        self.dim = dim

    def update_state(self, labels: Any, predictions: Any, sample_weight: Any = None) -> Any:
        """Add a batch; the weights broadcast to the predictions, of which ``dim`` is one."""
        labels, predictions = same_rank(labels, predictions)
        similarity = tf.reduce_sum(labels * predictions, axis=self.dim, keepdims=True)
        return super().update_state(similarity, sample_weight=sample_weight)

    def result(self) -> tf.Tensor:
        """The mean, a float scalar; 1 where nothing has been added, or all weights are 0."""
        return 1.0 - super().result()

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "dim": self.dim}

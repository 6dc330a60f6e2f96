"""Metrics of `tf.contrib.metrics` in graphs of TensorFlow 1 that `tf.compat.v1.metrics` lacks."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from migrator.runtime.losses_metrics.mean_errors import same_rank, weights_of


def streaming_covariance(
    predictions: Any,
    labels: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> tuple[tf.Tensor, tf.Tensor]:
    """Unbiased covariance of all predictions and labels so far, and the op that adds a batch; NaN for less than two.

    Comoments are joined as in TF1, after Chan et al., "Updating formulae and a pairwise algorithm for computing sample
    variances" (1979).

    Args:
        predictions: float tensor of any shape.
        labels: float tensor of that shape.
        weights: frequencies of the examples, that broadcast to the labels.
        metrics_collections: collections that get the value.
        updates_collections: collections that get the update.
        name: name of the variable scope.
    """
    with tf.compat.v1.variable_scope(name, "covariance", (predictions, labels, weights)):
        predictions, labels = same_rank(predictions, labels)
        kinds = [tf.compat.v1.GraphKeys.LOCAL_VARIABLES, tf.compat.v1.GraphKeys.METRIC_VARIABLES]
        count, mean_prediction, mean_label, comoment = (
            tf.compat.v1.Variable(tf.zeros([]), trainable=False, collections=kinds, name=kind)
            for kind in ("count", "mean_prediction", "mean_label", "comoment")
        )
        frequencies = weights_of(labels, weights)
        batch = tf.reduce_sum(frequencies)
        batch_prediction = tf.math.divide_no_nan(tf.reduce_sum(predictions * frequencies), batch)
        batch_label = tf.math.divide_no_nan(tf.reduce_sum(labels * frequencies), batch)
        residuals = tf.reduce_sum((predictions - batch_prediction) * (labels - batch_label) * frequencies)
        # All that the update reads is read before it writes.
        before, shift_prediction, shift_label = tf.identity_n(
            [count, batch_prediction - mean_prediction, batch_label - mean_label]
        )
        total = before + batch
        between = shift_prediction * shift_label * (before * batch / total)
        steps = [tf.math.divide_no_nan(shift * batch, total) for shift in (shift_prediction, shift_label)]
        with tf.control_dependencies([between, *steps]):
            variables = (count, mean_prediction, mean_label, comoment)
            values = (batch, *steps, residuals + between)
            updates = [variable.assign_add(value).op for variable, value in zip(variables, values)]

        def covariance() -> tf.Tensor:
            read = count.read_value()
            return tf.where(read <= 1.0, float("nan"), comoment.read_value() / (read - 1.0))

        value = covariance()
        with tf.control_dependencies(updates):
            update = covariance()
    tf.compat.v1.add_to_collections(metrics_collections or (), value)
    tf.compat.v1.add_to_collections(updates_collections or (), update)
    return value, update


def streaming_pearson_correlation(
    predictions: Any,
    labels: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> tuple[tf.Tensor, tf.Tensor]:
    """Correlation of all predictions and labels so far, in [-1, 1], and the op that adds a batch.

    Arguments are those of `streaming_covariance`.
    """
    with tf.compat.v1.variable_scope(name, "pearson_r", (predictions, labels, weights)):
        predictions, labels = same_rank(predictions, labels)
        pairs = {"covariance": (predictions, labels), "variance_predictions": (predictions,) * 2}
        pairs["variance_labels"] = (labels, labels)
        moments = [streaming_covariance(*pair, weights, name=kind) for kind, pair in pairs.items()]
        value, update = (c / (tf.sqrt(p) * tf.sqrt(y)) for c, p, y in zip(*moments))
    tf.compat.v1.add_to_collections(metrics_collections or (), value)
    tf.compat.v1.add_to_collections(updates_collections or (), update)
    return value, update

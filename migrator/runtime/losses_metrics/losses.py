"""Losses of ``tf.compat.v1.losses`` that Keras lacks, and the two means that TensorFlow 1 took of weighted losses.

A loss is written in two steps: the losses of the elements, then their reduction. Of the reductions of TensorFlow 1

- ``SUM_BY_NONZERO_WEIGHTS`` (the default) without weights is ``tf.reduce_mean(losses)``,
- ``SUM_BY_NONZERO_WEIGHTS`` with weights is ``mean_by_nonzero_weights(losses, weights)``,
- ``MEAN`` with weights is ``mean_by_total_weight(losses, weights)``,
- ``SUM`` is ``tf.reduce_sum(losses * weights)``,
- ``SUM_OVER_BATCH_SIZE`` is ``tf.reduce_mean(losses * weights)``,
- ``NONE`` is ``losses * weights``.

Keras divides a weighted loss by the number of all elements, zero weights included.
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf


def broadcast_weights(losses: tf.Tensor, weights: Any) -> tf.Tensor:
    """Give weights the shape and type of the losses.

    Args:
        losses: float tensor.
        weights: a number, or a tensor of the rank of ``losses`` that broadcasts to it, or of one rank more, whose last
            axis of size one is dropped (weights ``[batch, 1]`` for losses ``[batch]``).
    """
    weights = tf.cast(weights, losses.dtype)
    if weights.shape.rank == losses.shape.rank + 1:
        weights = tf.squeeze(weights, axis=-1)
    return tf.broadcast_to(weights, tf.shape(losses))


def mean_by_nonzero_weights(losses: tf.Tensor, weights: Any) -> tf.Tensor:
    """Weighted sum of losses, divided by how many weights are not zero: ``Reduction.SUM_BY_NONZERO_WEIGHTS`` of TF1.

    Args:
        losses: float tensor, one loss per element.
        weights: see ``broadcast_weights``.

    Returns:
        Scalar; zero where all weights are zero.
    """
    weights = broadcast_weights(losses, weights)
    num_present = tf.math.count_nonzero(weights, dtype=losses.dtype)
    return tf.math.divide_no_nan(tf.reduce_sum(losses * weights), num_present)


def mean_by_total_weight(losses: tf.Tensor, weights: Any) -> tf.Tensor:
    """Weighted sum of losses, divided by the sum of the weights: ``Reduction.MEAN`` of TF1.

    Args:
        losses: float tensor, one loss per element.
        weights: see ``broadcast_weights``.

    Returns:
        Scalar; zero where the weights add up to zero.
    """
    weights = broadcast_weights(losses, weights)
    return tf.math.divide_no_nan(tf.reduce_sum(losses * weights), tf.reduce_sum(weights))


def elementwise_log_loss(labels: Any, predictions: tf.Tensor, epsilon: float = 1e-7) -> tf.Tensor:
    """``tf.compat.v1.losses.log_loss`` before its reduction: adds ``epsilon`` where Keras clips the probabilities."""
    labels = tf.cast(labels, predictions.dtype)
    return -labels * tf.math.log(predictions + epsilon) - (1.0 - labels) * tf.math.log(1.0 - predictions + epsilon)


def mean_pairwise_squared_error(labels: Any, predictions: tf.Tensor, weights: Any = 1.0) -> tf.Tensor:
    """``tf.compat.v1.losses.mean_pairwise_squared_error``: compares differences between elements of one example.

    For each example the mean over pairs of elements of ``((p_i - p_j) - (l_i - l_j)) ** 2``, doubled as in TF1; then
    the weighted sum over examples (not their mean). Keras has no such loss.

    Args:
        labels: tensor of shape ``[batch, ...]``.
        predictions: float tensor of the same shape.
        weights: a number, or one weight per example in the rank of ``predictions`` (``[batch, 1, ...]``).

    Returns:
        Scalar.
    """
    error = predictions - tf.cast(labels, predictions.dtype)
    weights = tf.cast(weights, error.dtype)
    axes = list(range(1, error.shape.rank))
    present = tf.cast(tf.not_equal(tf.broadcast_to(weights, tf.shape(error)), 0.0), error.dtype)
    count = tf.reduce_sum(present, axis=axes, keepdims=True)
    squares = tf.reduce_sum(tf.square(error), axis=axes, keepdims=True)
    square_of_sum = tf.square(tf.reduce_sum(error, axis=axes, keepdims=True))
    others = tf.maximum(count - 1.0, 0.0)
    pairs = tf.math.divide_no_nan(squares, others) - tf.math.divide_no_nan(square_of_sum, count * others)
    return tf.reduce_sum(2.0 * pairs * weights)


def sequence_loss(
    logits: tf.Tensor,
    targets: tf.Tensor,
    weights: tf.Tensor,
    average_across_timesteps: bool = True,
    average_across_batch: bool = True,
    sum_over_timesteps: bool = False,
    sum_over_batch: bool = False,
    softmax_loss_function: Any = None,
) -> tf.Tensor:
    """Weighted cross entropy of sequences: ``tf.contrib.seq2seq.sequence_loss``.

    Args:
        logits: ``[batch, time, classes]``.
        targets: classes, ``[batch, time]``.
        weights: floats, ``[batch, time]``; zeros for steps behind the end of a sequence.
        average_across_timesteps: sum over the steps, divided by the sum of their weights.
        average_across_batch: the same over the examples.
        sum_over_timesteps: sum over the steps, divided by the number of weights that are not zero.
        sum_over_batch: the same over the examples.
        softmax_loss_function: of ``labels`` and ``logits`` without the axis of time; sparse cross entropy by default.

    Returns:
        Scalar; with one axis that is neither averaged nor summed over, a value for each of its elements; with two,
        ``[batch, time]``. Zero where the weights add up to zero.
    """
    function = softmax_loss_function or tf.nn.sparse_softmax_cross_entropy_with_logits
    losses = function(labels=tf.reshape(targets, [-1]), logits=tf.reshape(logits, [-1, tf.shape(logits)[2]]))
    losses = tf.reshape(losses * tf.reshape(weights, [-1]), tf.shape(logits)[:2])
    averaged = average_across_batch, average_across_timesteps
    summed = sum_over_batch, sum_over_timesteps
    if all(averaged) or (any(averaged) and not all(summed)):
        axes = [axis for axis, reduced in enumerate(averaged) if reduced]
        total = tf.reduce_sum(weights, axes)
    elif any(summed):
        axes = [axis for axis, reduced in enumerate(summed) if reduced]
        total = tf.math.count_nonzero(weights, axes, dtype=losses.dtype)
    else:
        return losses
    return tf.math.divide_no_nan(tf.reduce_sum(losses, axes), total)

"""Heads of TensorFlow 1 in the graph of a `model_fn`: the `EstimatorSpec` that follows from logits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Callable

import tensorflow as tf

from migrator.runtime.heads import BinaryClassHead, ClassHead, Head, RegressionHead
from migrator.runtime.v1_graph import EstimatorSpec


def create_estimator_spec(
    head: Head,
    features: Any,
    mode: str,
    logits: tf.Tensor,
    labels: Any = None,
    optimizer: Any = None,
    train_op_fn: Callable[[tf.Tensor], Any] | None = None,
    regularization_losses: Sequence[tf.Tensor] | None = None,
) -> EstimatorSpec:
    """Predictions, loss, metrics and train op of a head; update ops of the graph run with the train op.

    Args:
      head: what the logits mean.
      logits: ``[batch, head.units]``.
      labels: ``[batch]`` or ``[batch, k]``.
      optimizer: of TensorFlow 1; minimizes the loss in training.
      train_op_fn: makes the train op of the loss, instead.
      regularization_losses: scalars to add to the loss.
    """
    predictions = head.predictions(tf.cast(logits, tf.float32))
    if mode == "infer":
        return EstimatorSpec(mode, predictions, export_outputs=head.serving_outputs(predictions))
    labels, losses, weights = head.evaluated(features, labels, predictions)
    loss = data_loss = head.reduce(losses, weights)
    penalty = tf.add_n(list(regularization_losses)) if regularization_losses else None
    suffix = getattr(head, "suffix", "")  # a head may have a name
    if penalty is not None:
        loss = data_loss + penalty
    if mode == "eval":
        metrics = head_metrics(head, labels, losses, weights, predictions)
        if penalty is not None:
            metrics["regularization_loss"] = tf.compat.v1.metrics.mean(penalty)
        return EstimatorSpec(
            mode, predictions, loss, eval_metric_ops={name + suffix: metric for name, metric in metrics.items()}
        )
    if (optimizer is None) == (train_op_fn is None):
        raise ValueError("Give either an optimizer or a train_op_fn.")
    if train_op_fn is None:
        train_op = optimizer.minimize(loss, global_step=tf.compat.v1.train.get_global_step())
    else:
        train_op = train_op_fn(loss)
    updates = tf.compat.v1.get_collection(tf.compat.v1.GraphKeys.UPDATE_OPS)
    if head.loss_reduction == "sum":
        total = tf.reduce_sum(tf.ones_like(losses) * (1.0 if weights is None else weights))
        tf.compat.v1.summary.scalar(f"average_loss{suffix}", data_loss / total)
    if penalty is not None:
        tf.compat.v1.summary.scalar(f"regularization_loss{suffix}", penalty)
    return EstimatorSpec(mode, predictions, loss, tf.group(train_op, *updates))


def head_metrics(head: Head, labels: Any, losses: Any, weights: Any, predictions: Any) -> dict[str, tuple[Any, Any]]:
    """Value and update of each metric of a head."""
    v1 = tf.compat.v1.metrics
    metrics = {"average_loss": v1.mean(losses, weights)}
    if isinstance(head, ClassHead):
        metrics["accuracy"] = v1.accuracy(labels, predictions["class_ids"], weights)
    if isinstance(head, RegressionHead):
        metrics["prediction/mean"] = v1.mean(predictions["predictions"], per_value(weights, labels))
        metrics["label/mean"] = v1.mean(labels, per_value(weights, labels))
    if isinstance(head, BinaryClassHead):
        metrics.update(binary_metrics(head, labels, weights, predictions["class_ids"], predictions["logistic"]))
    return metrics


def binary_metrics(head: BinaryClassHead, labels: Any, weights: Any, class_ids: Any, logistic: Any) -> dict[str, Any]:
    """The metrics that only two classes have."""
    v1 = tf.compat.v1.metrics
    mean, update = v1.mean(labels, weights)
    metrics = {
        "precision": v1.precision(labels, class_ids, weights),
        "recall": v1.recall(labels, class_ids, weights),
        "prediction/mean": v1.mean(logistic, weights),
        "label/mean": (mean, update),
        "accuracy_baseline": (tf.maximum(mean, 1.0 - mean), update),
        "auc": v1.auc(labels, logistic, weights),
        "auc_precision_recall": v1.auc(labels, logistic, weights, curve="PR"),
    }
    for threshold in head.thresholds:
        suffix = f"positive_threshold_{threshold:g}"
        hits = tf.cast(logistic >= threshold, tf.float32)
        metrics[f"accuracy/{suffix}"] = v1.accuracy(labels, hits, weights)
        for name, at in (("precision", v1.precision_at_thresholds), ("recall", v1.recall_at_thresholds)):
            value, update = at(labels, logistic, (threshold,), weights)
            metrics[f"{name}/{suffix}"] = (value[0], update)
    return metrics


def per_value(weights: Any, values: tf.Tensor) -> Any:
    """Weights of examples as weights of their values."""
    return None if weights is None else tf.ones_like(values) * weights

"""Heads of TensorFlow 1 in the graph of a `model_fn`: the `EstimatorSpec` that follows from logits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Callable

import tensorflow as tf

from migrator.runtime.canned.heads import BinaryClassHead, Head, RegressionHead
from migrator.runtime.graph_v1.v1_graph import EstimatorSpec


def create_estimator_spec(
    head: Head,
    features: Any,
    mode: str,
    logits: tf.Tensor,
    labels: Any = None,
    optimizer: Any = None,
    train_op_fn: Callable[[tf.Tensor], Any] | None = None,
    regularization_losses: Sequence[tf.Tensor] | None = None,
    update_ops: Sequence[Any] | None = None,
) -> EstimatorSpec:
    """Predictions, loss, metrics and train op of a head.

    Args:
      head: what the logits mean.
      logits: ``[batch, head.units]``.
      labels: ``[batch]`` or ``[batch, k]``.
      optimizer: of TensorFlow 1; minimizes the loss in training.
      train_op_fn: makes the train op of the loss, instead.
      regularization_losses: scalars to add to the loss.
      update_ops: what runs with the train op; None for the update ops of the graph.
    """
    predictions = head.predictions(tf.cast(logits, tf.float32))
    if mode == "infer":
        return EstimatorSpec(mode, predictions, export_outputs=head.serving_outputs(predictions))
    labels, losses, weights = head.evaluated(features, labels, predictions)
    loss = data_loss = head.reduce(losses, weights)
    penalty = tf.add_n(list(regularization_losses)) if regularization_losses else None
    if penalty is not None:
        loss = data_loss + penalty
    if mode == "eval":
        metrics = head_metrics(head, labels, losses, weights, predictions)
        if penalty is not None:
            metrics["regularization_loss"] = tf.compat.v1.metrics.mean(penalty)
        named = {key_of(head, key): metric for key, metric in metrics.items()}
        return EstimatorSpec(mode, predictions, loss, eval_metric_ops=named)
    train_op = step_of(loss, optimizer, train_op_fn)
    shown = {"loss": loss} if hasattr(head, "suffix") else {}  # without a name it is that of the training
    if update_ops is None:
        update_ops = tf.compat.v1.get_collection(tf.compat.v1.GraphKeys.UPDATE_OPS)
        if head.loss_reduction == "sum":
            total = tf.reduce_sum(tf.ones_like(losses) * (1.0 if weights is None else weights))
            shown["average_loss"] = data_loss / total
    if penalty is not None:
        shown["regularization_loss"] = penalty
    for key, value in shown.items():
        tf.compat.v1.summary.scalar(key_of(head, key), value)
    return EstimatorSpec(mode, predictions, loss, tf.group(train_op, *update_ops))


def step_of(loss: Any, optimizer: Any, train_op_fn: Callable[[Any], Any] | None) -> Any:
    """The op that trains a loss: the optimizer's, which counts the global step, or that of `train_op_fn`.

    Raises ValueError unless one of the two is given.
    """
    if (optimizer is None) == (train_op_fn is None):
        raise ValueError("Give either an optimizer or a train_op_fn.")
    if train_op_fn is not None:
        return train_op_fn(loss)
    return optimizer.minimize(loss, global_step=tf.compat.v1.train.get_global_step())


def key_of(head: Head, key: str) -> str:
    """The key of a metric or a summary, with the name of the head if it has one."""
    return f"{key}{getattr(head, 'suffix', '')}"


def head_metrics(head: Head, labels: Any, losses: Any, weights: Any, predictions: Any) -> dict[str, tuple[Any, Any]]:
    """Value and update of each metric of a head."""
    v1 = tf.compat.v1.metrics
    metrics = {"average_loss": v1.mean(losses, weights)}
    if "class_ids" in predictions:
        metrics["accuracy"] = v1.accuracy(labels, predictions["class_ids"], weights)
    if isinstance(head, RegressionHead):
        metrics["prediction/mean"] = v1.mean(predictions["predictions"], per_value(weights, labels))
        metrics["label/mean"] = v1.mean(labels, per_value(weights, labels))
    if isinstance(head, BinaryClassHead):
        metrics.update(binary_metrics(head, labels, weights, predictions["class_ids"], predictions["logistic"]))
    if hasattr(head, "measured_classes"):
        metrics.update(multi_label_metrics(head, labels, weights, predictions["probabilities"]))
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
        **areas(head, labels, logistic, weights),
    }
    return {**metrics, **threshold_metrics(head, labels, logistic, weights)}


def areas(head: Any, labels: Any, probabilities: Any, weights: Any, suffix: str = "") -> dict[str, Any]:
    """The areas below the curves of true over false positives, and of precision over recall."""
    v1 = tf.compat.v1.metrics
    method = "careful_interpolation" if head.interpolate_auc else "trapezoidal"
    return {
        f"auc{suffix}": v1.auc(labels, probabilities, weights),
        f"auc_precision_recall{suffix}": v1.auc(labels, probabilities, weights, curve="PR", summation_method=method),
    }


def threshold_metrics(head: Any, labels: Any, probabilities: Any, weights: Any) -> dict[str, Any]:
    """The metrics at the thresholds of a head."""
    v1, metrics = tf.compat.v1.metrics, {}
    for threshold in head.thresholds:
        suffix = f"positive_threshold_{threshold:g}"
        hits = tf.cast(probabilities >= threshold, tf.float32)
        metrics[f"accuracy/{suffix}"] = v1.accuracy(labels, hits, weights)
        for name, at in (("precision", v1.precision_at_thresholds), ("recall", v1.recall_at_thresholds)):
            value, update = at(labels, probabilities, (threshold,), weights)
            metrics[f"{name}/{suffix}"] = (value[0], update)
    return metrics


def multi_label_metrics(head: Any, labels: Any, weights: Any, probabilities: Any) -> dict[str, Any]:
    """The metrics of several labels for one example, and of single classes."""
    metrics = {
        **areas(head, labels, probabilities, weights),
        **threshold_metrics(head, labels, probabilities, weights),
    }
    for number, name in head.measured_classes.items():
        own, given = probabilities[:, number : number + 1], labels[:, number : number + 1]
        metrics[f"probability_mean/{name}"] = tf.compat.v1.metrics.mean(own, weights)
        metrics.update(areas(head, given, own, weights, f"/{name}"))
    return metrics


def per_value(weights: Any, values: tf.Tensor) -> Any:
    """Weights of examples as weights of their values."""
    return None if weights is None else tf.ones_like(values) * weights

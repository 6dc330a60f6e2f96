"""Heads: what logits mean, as the canned Estimators see it - their loss, predictions and metrics."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Callable

import tensorflow as tf

from migrator.runtime.exports.exporting import ClassificationOutput, RegressionOutput
from migrator.runtime.losses_metrics.losses import mean_by_nonzero_weights, mean_by_total_weight
from migrator.runtime.losses_metrics.metrics import RiemannAUC


class AccuracyBaseline(tf.keras.metrics.Mean):
    """Accuracy of always predicting the more frequent one of two classes, from labels in [0, 1]."""

    def result(self) -> tf.Tensor:
        mean = super().result()
        return tf.maximum(mean, 1.0 - mean)


class Head(tf.Module):
    """Base of the heads below.

    Args:
        weight_column: name of the feature with the weights of the examples, or a numeric column.
        loss_reduction: ``sum``, ``sum_over_batch_size``, ``sum_by_nonzero_weights`` or ``mean`` (by total weight).
        loss_fn: ``loss_fn(labels, logits) -> losses [batch, 1 or logits]``, instead of the loss of the head.
    """

    def __init__(self, units: int, weight_column: Any, loss_reduction: str, loss_fn: Callable[..., Any] | None) -> None:
        super().__init__()
        self.units, self.weight_column = units, weight_column
        self.loss_reduction, self.loss_fn = loss_reduction, loss_fn

    def predictions(self, logits: tf.Tensor) -> dict[str, tf.Tensor]:
        """What `predict` yields, from float32 logits ``[batch, units]``."""
        raise NotImplementedError

    def serving_outputs(self, predictions: dict[str, tf.Tensor]) -> dict[str, Any]:
        """Outputs of an exported model by signature."""
        raise NotImplementedError

    def logits(self, outputs: dict[str, tf.Tensor]) -> tf.Tensor:
        """The logits that `predictions` were made of."""
        return outputs["logits"]

    def process_labels(self, labels: tf.Tensor) -> tf.Tensor:
        """Labels ``[batch, k]`` as numbers."""
        raise NotImplementedError

    def losses(self, labels: tf.Tensor, logits: tf.Tensor) -> tf.Tensor:
        """Losses of the examples, ``[batch, k]``."""
        raise NotImplementedError

    def metrics(self) -> dict[str, tf.keras.metrics.Metric]:
        """New metrics by name."""
        raise NotImplementedError

    def update_metrics(self, metrics: Any, labels: tf.Tensor, outputs: Any, weights: tf.Tensor | None) -> None:
        """Adds a batch to all metrics but ``average_loss``."""
        raise NotImplementedError

    def weights(self, features: Any) -> tf.Tensor | None:
        """Weights of the examples, float32 ``[batch, 1]``."""
        if self.weight_column is None:
            return None
        column = self.weight_column
        column = tf.feature_column.numeric_column(column) if isinstance(column, str) else column
        weights = column.get_dense_tensor(tf.__internal__.feature_column.FeatureTransformationCache(features), None)
        return tf.cast(weights, tf.float32)

    def evaluated(self, features: Any, labels: Any, outputs: Any) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor | None]:
        """Labels as numbers, losses of the examples, and their weights."""
        logits = self.logits(outputs)
        if labels.shape.rank == logits.shape.rank - 1:
            labels = tf.expand_dims(labels, -1)
        tf.debugging.assert_equal(tf.shape(labels)[0], tf.shape(logits)[0], "labels and features differ in batch size")
        labels = self.process_labels(labels)
        losses = self.losses(labels, logits) if self.loss_fn is None else self.loss_fn(labels=labels, logits=logits)
        return labels, losses, self.weights(features)

    def loss(self, features: Any, labels: Any, outputs: Any) -> tf.Tensor:
        """The loss of a batch with these predictions."""
        _, losses, weights = self.evaluated(features, labels, outputs)
        return self.reduce(losses, weights)

    def update_all(self, metrics: Any, features: Any, labels: Any, outputs: Any) -> None:
        """Adds a batch to all metrics."""
        labels, losses, weights = self.evaluated(features, labels, outputs)
        metrics["average_loss"].update_state(losses, sample_weight=weights)
        self.update_metrics(metrics, labels, outputs, weights)

    def training_scalars(self, features: Any, labels: Any, outputs: Any, mean: bool) -> dict[str, tf.Tensor]:
        """What an Estimator writes for TensorBoard in training beside the loss, by tag: the loss under the head's name.

        `mean`: also the mean of losses that are summed, by the weights of the examples.
        """
        _, losses, weights = self.evaluated(features, labels, outputs)
        loss, suffix = self.reduce(losses, weights), getattr(self, "suffix", "")
        scalars = {f"loss{suffix}": loss} if suffix else {}
        if mean and self.loss_reduction == "sum":
            scalars[f"average_loss{suffix}"] = loss / total_weight(losses, weights)
        return scalars

    def reduce(self, losses: tf.Tensor, weights: tf.Tensor | None) -> tf.Tensor:
        """The loss of the batch, a scalar."""
        weights = 1.0 if weights is None else weights
        if self.loss_reduction == "sum":
            return tf.reduce_sum(losses * weights)
        if self.loss_reduction == "sum_over_batch_size":
            return tf.reduce_mean(losses * weights)
        if self.loss_reduction == "sum_by_nonzero_weights":
            return mean_by_nonzero_weights(losses, weights)
        if self.loss_reduction == "mean":
            return mean_by_total_weight(losses, weights)
        raise ValueError(f"loss_reduction {self.loss_reduction!r} is unknown.")


def total_weight(losses: tf.Tensor, weights: tf.Tensor | None) -> tf.Tensor:
    """The sum of the weights of all losses, 1 for each if None."""
    ones = tf.ones_like(losses)
    return tf.reduce_sum(ones if weights is None else weights * ones)


class ClassHead(Head):
    """Base of the heads of classifiers.

    Args:
        n_classes: number of classes.
        label_vocabulary: the classes, if labels are strings.
        others: see ``Head``.
    """

    def __init__(self, units: int, n_classes: int, label_vocabulary: Sequence[str] | None, **others: Any) -> None:
        super().__init__(units, **others)
        self.n_classes, self.label_vocabulary = n_classes, list(label_vocabulary) if label_vocabulary else None

    def class_predictions(self, class_logits: tf.Tensor) -> dict[str, tf.Tensor]:
        """The predictions that all classifiers share, from logits ``[batch, n_classes]``."""
        class_ids = tf.argmax(class_logits, axis=-1)[:, tf.newaxis]
        every = tf.range(self.n_classes)
        names = tf.constant(self.label_vocabulary) if self.label_vocabulary else tf.strings.as_string(every)
        batch_size = tf.shape(class_logits)[0]
        return {
            "probabilities": tf.nn.softmax(class_logits),
            "class_ids": class_ids,
            "classes": tf.gather(names, class_ids),
            "all_class_ids": tf.tile(every[tf.newaxis], [batch_size, 1]),
            "all_classes": tf.tile(names[tf.newaxis], [batch_size, 1]),
        }

    def serving_outputs(self, predictions: dict[str, tf.Tensor]) -> dict[str, Any]:
        output = ClassificationOutput(predictions["probabilities"], predictions["all_classes"])
        return {"serving_default": output, "classification": output, "predict": predictions}

    def process_labels(self, labels: tf.Tensor) -> tf.Tensor:
        """Class ids, of labels that may be names of classes. Fails for labels that are no class."""
        if self.label_vocabulary:
            if labels.dtype != tf.string:
                raise ValueError(f"Labels must be strings if there is a vocabulary, given: {labels.dtype}")
            matches = tf.equal(labels, tf.constant(self.label_vocabulary))
            tf.debugging.Assert(tf.reduce_all(tf.reduce_any(matches, -1)), ["a label is not in the vocabulary", labels])
            return tf.argmax(matches, axis=-1)[:, tf.newaxis]
        tf.debugging.assert_non_negative(labels, "Labels must be >= 0")
        tf.debugging.assert_less_equal(labels, tf.cast(self.n_classes - 1, labels.dtype), "Labels must be < n_classes")
        return labels


class MultiClassHead(ClassHead):
    """Softmax cross entropy of ``n_classes`` classes."""

    def __init__(
        self,
        n_classes: int,
        weight_column: Any = None,
        label_vocabulary: Sequence[str] | None = None,
        loss_reduction: str = "sum",
        loss_fn: Callable[..., Any] | None = None,
    ) -> None:
        others = {"weight_column": weight_column, "loss_reduction": loss_reduction, "loss_fn": loss_fn}
        super().__init__(n_classes, n_classes, label_vocabulary, **others)

    def predictions(self, logits: tf.Tensor) -> dict[str, tf.Tensor]:
        return {"logits": logits, **self.class_predictions(logits)}

    def process_labels(self, labels: tf.Tensor) -> tf.Tensor:
        if not self.label_vocabulary and not labels.dtype.is_integer:
            raise ValueError(f"Labels must be integers, given: {labels.dtype}")
        return super().process_labels(labels)

    def losses(self, labels: tf.Tensor, logits: tf.Tensor) -> tf.Tensor:
        return tf.nn.sparse_softmax_cross_entropy_with_logits(labels[:, 0], logits)[:, tf.newaxis]

    def metrics(self) -> dict[str, tf.keras.metrics.Metric]:
        return {
            "average_loss": tf.keras.metrics.Mean(name="average_loss"),
            "accuracy": tf.keras.metrics.Accuracy(name="accuracy"),
        }

    def update_metrics(self, metrics: Any, labels: tf.Tensor, outputs: Any, weights: tf.Tensor | None) -> None:
        metrics["accuracy"].update_state(labels, outputs["class_ids"], sample_weight=weights)


class BinaryClassHead(ClassHead):
    """Sigmoid cross entropy of one logit; labels are classes 0 and 1 or numbers in between.

    Args:
        thresholds: of the metrics ``accuracy/positive_threshold_…``, ``precision/…`` and ``recall/…``.
        interpolate_auc: whether ``auc`` and ``auc_precision_recall`` are those of TensorFlow 2.
        others: see ``Head`` and ``ClassHead``.
    """

    def __init__(
        self,
        weight_column: Any = None,
        thresholds: Sequence[float] = (),
        label_vocabulary: Sequence[str] | None = None,
        loss_reduction: str = "sum",
        loss_fn: Callable[..., Any] | None = None,
        interpolate_auc: bool = False,
    ) -> None:
        others = {"weight_column": weight_column, "loss_reduction": loss_reduction, "loss_fn": loss_fn}
        super().__init__(1, 2, label_vocabulary, **others)
        self.thresholds, self.interpolate_auc = tuple(thresholds or ()), interpolate_auc

    def predictions(self, logits: tf.Tensor) -> dict[str, tf.Tensor]:
        two_class_logits = tf.concat([tf.zeros_like(logits), logits], axis=-1)
        return {"logits": logits, "logistic": tf.sigmoid(logits), **self.class_predictions(two_class_logits)}

    def serving_outputs(self, predictions: dict[str, tf.Tensor]) -> dict[str, Any]:
        return {**super().serving_outputs(predictions), "regression": RegressionOutput(predictions["logistic"])}

    def process_labels(self, labels: tf.Tensor) -> tf.Tensor:
        labels = labels if self.label_vocabulary else tf.cast(labels, tf.float32)  # they may be boolean
        return tf.cast(super().process_labels(labels), tf.float32)

    def losses(self, labels: tf.Tensor, logits: tf.Tensor) -> tf.Tensor:
        return tf.nn.sigmoid_cross_entropy_with_logits(labels, logits)

    def metrics(self) -> dict[str, tf.keras.metrics.Metric]:
        metrics = [
            tf.keras.metrics.Mean(name="average_loss"),
            tf.keras.metrics.Accuracy(name="accuracy"),
            tf.keras.metrics.Precision(name="precision"),
            tf.keras.metrics.Recall(name="recall"),
            tf.keras.metrics.Mean(name="prediction/mean"),
            tf.keras.metrics.Mean(name="label/mean"),
            AccuracyBaseline(name="accuracy_baseline"),
        ]
        curve = tf.keras.metrics.AUC if self.interpolate_auc else RiemannAUC
        metrics += [curve(name="auc"), curve(curve="PR", name="auc_precision_recall")]
        for threshold in self.thresholds:
            suffix = f"positive_threshold_{threshold:g}"
            metrics.append(tf.keras.metrics.Mean(name=f"accuracy/{suffix}"))
            metrics.append(tf.keras.metrics.Precision(threshold, name=f"precision/{suffix}"))
            metrics.append(tf.keras.metrics.Recall(threshold, name=f"recall/{suffix}"))
        return {metric.name: metric for metric in metrics}

    def update_metrics(self, metrics: Any, labels: tf.Tensor, outputs: Any, weights: tf.Tensor | None) -> None:
        for name in ("accuracy", "precision", "recall"):
            metrics[name].update_state(labels, outputs["class_ids"], sample_weight=weights)
        metrics["prediction/mean"].update_state(outputs["logistic"], sample_weight=weights)
        for name in ("label/mean", "accuracy_baseline"):
            metrics[name].update_state(labels, sample_weight=weights)
        for name in ("auc", "auc_precision_recall"):
            metrics[name].update_state(labels, outputs["logistic"], sample_weight=weights)
        for threshold in self.thresholds:
            suffix = f"positive_threshold_{threshold:g}"
            hits = tf.equal(tf.cast(outputs["logistic"] >= threshold, tf.float32), labels)
            metrics[f"accuracy/{suffix}"].update_state(tf.cast(hits, tf.float32), sample_weight=weights)
            for name in (f"precision/{suffix}", f"recall/{suffix}"):
                metrics[name].update_state(labels, outputs["logistic"], sample_weight=weights)


class RegressionHead(Head):
    """Squared error of ``label_dimension`` numbers.

    Args:
        others: see ``Head``. A weight column may also hold a weight for each number.
    """

    def __init__(
        self,
        weight_column: Any = None,
        label_dimension: int = 1,
        loss_reduction: str = "sum",
        loss_fn: Callable[..., Any] | None = None,
    ) -> None:
        super().__init__(label_dimension, weight_column, loss_reduction, loss_fn)

    def predictions(self, logits: tf.Tensor) -> dict[str, tf.Tensor]:
        return {"predictions": logits}

    def serving_outputs(self, predictions: dict[str, tf.Tensor]) -> dict[str, Any]:
        output = RegressionOutput(predictions["predictions"])
        return {"serving_default": output, "regression": output, "predict": predictions}

    def logits(self, outputs: dict[str, tf.Tensor]) -> tf.Tensor:
        return outputs["predictions"]

    def process_labels(self, labels: tf.Tensor) -> tf.Tensor:
        if labels.shape[-1] != self.units:
            raise ValueError(f"Labels must have {self.units} numbers, given: {labels.shape}")
        return tf.cast(labels, tf.float32)

    def losses(self, labels: tf.Tensor, logits: tf.Tensor) -> tf.Tensor:
        return tf.math.squared_difference(logits, labels)

    def metrics(self) -> dict[str, tf.keras.metrics.Metric]:
        return {name: tf.keras.metrics.Mean(name=name) for name in ("average_loss", "prediction/mean", "label/mean")}

    def update_metrics(self, metrics: Any, labels: tf.Tensor, outputs: Any, weights: tf.Tensor | None) -> None:
        metrics["prediction/mean"].update_state(outputs["predictions"], sample_weight=weights)
        metrics["label/mean"].update_state(labels, sample_weight=weights)


def class_head(
    n_classes: int,
    weight_column: Any,
    label_vocabulary: Sequence[str] | None,
    loss_reduction: str,
    interpolate_auc: bool,
) -> ClassHead:
    """The head of a classifier of 2 or more classes; arguments as for the heads."""
    if n_classes == 2:
        return BinaryClassHead(weight_column, (), label_vocabulary, loss_reduction, interpolate_auc=interpolate_auc)
    return MultiClassHead(n_classes, weight_column, label_vocabulary, loss_reduction)

"""The head of several labels for one example."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Callable

import tensorflow as tf

from migrator.runtime.canned.heads import ClassHead
from migrator.runtime.exports.exporting import ClassificationOutput
from migrator.runtime.losses_metrics.metrics import RiemannAUC


class MultiLabelHead(ClassHead):
    """Sigmoid cross entropy of ``n_classes`` classes, of which an example may have any number.

    Labels: zeros and ones ``[batch, n_classes]``, or a `SparseTensor` of class ids or names ``[batch, any number]``.

    Args:
        thresholds: of the metrics ``accuracy/positive_threshold_…``, ``precision/…`` and ``recall/…``.
        classes_for_class_based_metrics: ids or names of classes with metrics of their own.
        interpolate_auc: whether areas below precision-recall curves interpolate as in TensorFlow 2.
        predict_classes: whether predictions hold the names of all classes, as in TensorFlow 2.
        others: see ``Head`` and ``ClassHead``.
    """

    def __init__(
        self,
        n_classes: int,
        weight_column: Any = None,
        thresholds: Sequence[float] | None = None,
        label_vocabulary: Sequence[str] | None = None,
        loss_reduction: str = "sum_over_batch_size",
        loss_fn: Callable[..., Any] | None = None,
        classes_for_class_based_metrics: Sequence[Any] | None = None,
        interpolate_auc: bool = False,
        predict_classes: bool = False,
    ) -> None:
        others = {"weight_column": weight_column, "loss_reduction": loss_reduction, "loss_fn": loss_fn}
        super().__init__(n_classes, n_classes, label_vocabulary, **others)
        self.thresholds, self.interpolate_auc = tuple(thresholds or ()), interpolate_auc
        self.predict_classes = predict_classes
        vocabulary = self.label_vocabulary or []
        chosen = [vocabulary.index(c) if isinstance(c, str) else c for c in classes_for_class_based_metrics or ()]
        self.measured_classes = {number: vocabulary[number] if vocabulary else f"class{number}" for number in chosen}

    def predictions(self, logits: tf.Tensor) -> dict[str, tf.Tensor]:
        predictions = {"logits": logits, "probabilities": tf.sigmoid(logits)}
        return {**predictions, "classes": self.all_classes(logits)} if self.predict_classes else predictions

    def all_classes(self, logits: tf.Tensor) -> tf.Tensor:
        """The names of all classes for each example, ``[batch, n_classes]``."""
        names = self.label_vocabulary or [str(number) for number in range(self.n_classes)]
        return tf.tile([names], [tf.shape(logits)[0], 1])

    def serving_outputs(self, predictions: dict[str, tf.Tensor]) -> dict[str, Any]:
        output = ClassificationOutput(predictions["probabilities"], self.all_classes(predictions["logits"]))
        return {"serving_default": output, "classification": output, "predict": predictions}

    def evaluated(self, features: Any, labels: Any, outputs: Any) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor | None]:
        if isinstance(labels, tf.SparseTensor):
            labels = labels.with_values(super().process_labels(labels.values[:, tf.newaxis])[:, 0])
            labels = tf.cast(tf.sparse.to_indicator(labels, self.n_classes), tf.int64)
        return super().evaluated(features, labels, outputs)

    def process_labels(self, labels: tf.Tensor) -> tf.Tensor:
        tf.debugging.assert_non_negative(labels, "Labels must be 0 or 1")
        tf.debugging.assert_less_equal(labels, tf.cast(1, labels.dtype), "Labels must be 0 or 1")
        return tf.cast(labels, tf.float32)

    def losses(self, labels: tf.Tensor, logits: tf.Tensor) -> tf.Tensor:
        losses = tf.nn.sigmoid_cross_entropy_with_logits(labels, logits)
        return tf.reduce_mean(losses, axis=-1, keepdims=True)

    def metrics(self) -> dict[str, tf.keras.metrics.Metric]:
        curve = tf.keras.metrics.AUC if self.interpolate_auc else RiemannAUC
        metrics = [
            tf.keras.metrics.Mean(name="average_loss"),
            tf.keras.metrics.AUC(name="auc"),
            curve(curve="PR", name="auc_precision_recall"),
        ]
        for threshold in self.thresholds:
            suffix = f"positive_threshold_{threshold:g}"
            metrics.append(tf.keras.metrics.BinaryAccuracy(f"accuracy/{suffix}", threshold=threshold))
            metrics.append(tf.keras.metrics.Precision(threshold, name=f"precision/{suffix}"))
            metrics.append(tf.keras.metrics.Recall(threshold, name=f"recall/{suffix}"))
        for name in self.measured_classes.values():
            metrics.append(tf.keras.metrics.Mean(name=f"probability_mean/{name}"))
            metrics.append(tf.keras.metrics.AUC(name=f"auc/{name}"))
            metrics.append(curve(curve="PR", name=f"auc_precision_recall/{name}"))
        return {metric.name: metric for metric in metrics}

    def update_metrics(self, metrics: Any, labels: tf.Tensor, outputs: Any, weights: tf.Tensor | None) -> None:
        probabilities = outputs["probabilities"]
        for name, metric in metrics.items():
            if name != "average_loss" and "/" not in name or "/positive_threshold_" in name:
                metric.update_state(labels, probabilities, sample_weight=weights)
        for number, name in self.measured_classes.items():
            column = slice(number, number + 1)
            metrics[f"probability_mean/{name}"].update_state(probabilities[:, column], sample_weight=weights)
            for kind in ("auc", "auc_precision_recall"):
                own = metrics[f"{kind}/{name}"]
                own.update_state(labels[:, column], probabilities[:, column], sample_weight=weights)

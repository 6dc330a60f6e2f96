"""Metrics of TensorFlow 1 that Keras lacks or computes otherwise.

Most ``tf.metrics`` are plain Keras: a mean of values (``tf.keras.metrics.Mean``), or a class of the same name that
agrees. The argument of ``update_state`` that TF1 called ``weights`` is ``sample_weight``.
"""

from __future__ import annotations

from typing import Any, Optional, Union

import tensorflow as tf

from migrator.runtime.losses_metrics.mean_errors import same_rank, weights_of

Labels = Union[tf.Tensor, tf.SparseTensor]


class BatchMean(tf.keras.metrics.Mean):
    """Mean over batches, each of the same weight: what an Estimator reports as ``loss``.

    ``tf.keras.metrics.Mean`` weights by what it is given, and Keras weights its own ``loss`` by the size of the
    batch, so a short last batch counts less there than it did in TF1.
    """

    def update_state(self, values: Any, sample_weight: Any = None) -> Any:
        """Add one batch. ``values`` of any shape are averaged first; ``sample_weight`` is ignored."""
        return super().update_state(tf.reduce_mean(values))


class ThresholdAUC(tf.keras.metrics.AUC):
    """``tf.keras.metrics.AUC`` that compares each prediction with each threshold, as ``tf.compat.v1.metrics`` did.

    Keras sorts predictions into buckets between 0 and 1, and takes those below 0 or above 1 for others than they are.
    """

    def update_state(self, labels: Any, predictions: Any, sample_weight: Any = None) -> None:
        """Add labels, positive where they are not 0, and predictions, both ``[batch]``, ``[batch, 1]`` or of more axes.

        Weights are of all, of each example, or of each value.
        """
        labels, predictions = same_rank(tf.cast(labels, tf.bool), tf.cast(predictions, tf.float32))
        weights = weights_of(predictions, sample_weight)
        positive, negative = tf.where(labels, weights, 0.0), tf.where(labels, 0.0, weights)
        above = tf.cast(tf.reshape(predictions, [-1, 1]) > tf.constant(self.thresholds, tf.float32), tf.float32)
        for variable, values, side in (
            (self.true_positives, positive, above),
            (self.false_positives, negative, above),
            (self.false_negatives, positive, 1.0 - above),
            (self.true_negatives, negative, 1.0 - above),
        ):
            variable.assign_add(tf.linalg.matvec(side, tf.reshape(values, [-1]), transpose_a=True))


class RiemannAUC(ThresholdAUC):
    """``tf.compat.v1.metrics.auc`` with its ways of summation, by default ``trapezoidal``.

    ``tf.keras.metrics.AUC`` agrees for the ROC curve of labels of both classes: without positive ones it is 0, here 1.
    For the precision-recall curve it interpolates carefully (2e-4 off in our example) and calls the precision zero, not
    one, where nothing is predicted. For ``careful_interpolation`` ``tf.keras.metrics.AUC(curve="PR")`` is the replacement.

    Args:
        num_thresholds: number of points of the curve.
        curve: ``"ROC"`` or ``"PR"``.
        summation_method: ``"trapezoidal"``, ``"minoring"``, ``"majoring"``, or ``"careful_interpolation"`` (for PR).
        name: name of the metric.
        thresholds: inner points of the curve, instead of ``num_thresholds`` even ones.
    """

    def __init__(
        self,
        num_thresholds: int = 200,
        curve: str = "ROC",
        summation_method: str = "trapezoidal",
        name: str = "auc",
        thresholds: Optional[list[float]] = None,
        **kwargs: Any,
    ) -> None:
        if summation_method not in ("trapezoidal", "minoring", "majoring", "careful_interpolation"):
            raise ValueError(f"summation_method {summation_method!r} is unknown.")
        super().__init__(num_thresholds=num_thresholds, curve=curve, name=name, thresholds=thresholds, **kwargs)
        self.heights = summation_method

    def result(self) -> tf.Tensor:
        """The area, a float scalar."""
        if self.heights == "careful_interpolation" and self.curve.value == "PR":
            return super().result()
        epsilon = 1e-6
        tp, fp = tf.convert_to_tensor(self.true_positives), tf.convert_to_tensor(self.false_positives)
        tn, fn = tf.convert_to_tensor(self.true_negatives), tf.convert_to_tensor(self.false_negatives)
        recall = (tp + epsilon) / (tp + fn + epsilon)
        if self.curve.value == "ROC":
            x, y = fp / (fp + tn + epsilon), recall
        else:
            x, y = recall, (tp + epsilon) / (tp + fp + epsilon)
        if self.heights == "minoring":
            heights = tf.minimum(y[:-1], y[1:])
        elif self.heights == "majoring":
            heights = tf.maximum(y[:-1], y[1:])
        else:
            heights = (y[:-1] + y[1:]) / 2.0
        return tf.reduce_sum((x[:-1] - x[1:]) * heights)

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "summation_method": self.heights}


class SensitivityNearSpecificity(ThresholdAUC):
    """``tf.compat.v1.metrics.sensitivity_at_specificity``: at the threshold of the nearest specificity.

    ``tf.keras.metrics.SensitivityAtSpecificity`` takes the best sensitivity among thresholds of at least that
    specificity.

    Args:
        specificity: in [0, 1].
        num_thresholds: number of thresholds to choose from.
        name: name of the metric.
    """

    def __init__(
        self, specificity: float, num_thresholds: int = 200, name: str = "sensitivity_at_specificity", **kwargs: Any
    ) -> None:
        super().__init__(num_thresholds=num_thresholds, name=name, **kwargs)
        self.specificity = specificity

    def result(self) -> tf.Tensor:
        """The sensitivity, a float scalar."""
        epsilon = 1e-7
        tp, fp = tf.convert_to_tensor(self.true_positives), tf.convert_to_tensor(self.false_positives)
        tn, fn = tf.convert_to_tensor(self.true_negatives), tf.convert_to_tensor(self.false_negatives)
        nearest = tf.argmin(tf.abs(tn / (tn + fp + epsilon) - self.specificity))
        return tf.gather(tp / (tp + fn + epsilon), nearest)

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "specificity": self.specificity}


class SpecificityNearSensitivity(ThresholdAUC):
    """``tf.compat.v1.metrics.specificity_at_sensitivity``: at the last threshold of the nearest sensitivity.

    ``tf.keras.metrics.SpecificityAtSensitivity`` takes the best specificity among thresholds of at least that
    sensitivity.

    Args:
        sensitivity: in [0, 1].
        num_thresholds: number of thresholds to choose from.
        name: name of the metric.
    """

    def __init__(
        self, sensitivity: float, num_thresholds: int = 200, name: str = "specificity_at_sensitivity", **kwargs: Any
    ) -> None:
        # TF1 ends with a threshold below 1, so a prediction of 1 is positive at all; the base class adds one above 1.
        inner = [i / (num_thresholds - 1) for i in range(1, num_thresholds - 1)] + [1.0 - 1e-7]
        kwargs.pop("thresholds", None)
        super().__init__(thresholds=inner, name=name, **kwargs)
        self.sensitivity = sensitivity

    def result(self) -> tf.Tensor:
        """The specificity, a float scalar."""
        epsilon = 1e-7
        tp, fp = tf.convert_to_tensor(self.true_positives)[:-1], tf.convert_to_tensor(self.false_positives)[:-1]
        tn, fn = tf.convert_to_tensor(self.true_negatives)[:-1], tf.convert_to_tensor(self.false_negatives)[:-1]
        distance = tf.abs(tp / (tp + fn + epsilon) - self.sensitivity)
        nearest = tf.where(distance <= tf.reduce_min(distance))[-1, 0]
        return tf.gather(tn / (tn + fp + epsilon), nearest)

    def get_config(self) -> dict[str, Any]:
        config = {**super().get_config(), "sensitivity": self.sensitivity}
        return {**config, "num_thresholds": len(self.thresholds) - 1}


class MeanPerClassAccuracy(tf.keras.metrics.Metric):
    """``tf.compat.v1.metrics.mean_per_class_accuracy``: mean over classes of the accuracy on their examples.

    Keras has no such metric. A class without examples counts as accuracy zero.

    Args:
        num_classes: labels and predictions are in ``[0, num_classes)``.
        name: name of the metric.
    """

    def __init__(self, num_classes: int, name: str = "mean_accuracy", **kwargs: Any) -> None:
        super().__init__(name=name, **kwargs)
        self.num_classes = num_classes
        self.correct = self.add_weight(name="correct", shape=(num_classes,), initializer="zeros")
        self.total = self.add_weight(name="total", shape=(num_classes,), initializer="zeros")

    def update_state(self, labels: tf.Tensor, predictions: tf.Tensor, sample_weight: Any = None) -> None:
        """Add a batch; labels, predictions and weights are of one shape (or the weight is a number)."""
        labels = tf.reshape(tf.cast(labels, tf.int64), [-1])
        predictions = tf.reshape(tf.cast(predictions, tf.int64), [-1])
        weight = tf.ones([tf.size(labels)])
        if sample_weight is not None:
            weight *= tf.reshape(tf.cast(sample_weight, tf.float32), [-1])
        hits = tf.where(labels == predictions, weight, 0.0)
        self.correct.assign_add(tf.math.unsorted_segment_sum(hits, labels, self.num_classes))
        self.total.assign_add(tf.math.unsorted_segment_sum(weight, labels, self.num_classes))

    def result(self) -> tf.Tensor:
        """The mean, a float scalar."""
        return tf.reduce_mean(tf.math.divide_no_nan(tf.convert_to_tensor(self.correct), self.total))

    def reset_state(self) -> None:
        """Forget all batches."""
        self.correct.assign(tf.zeros([self.num_classes]))
        self.total.assign(tf.zeros([self.num_classes]))

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "num_classes": self.num_classes}


class ConfusionMatrix(tf.keras.metrics.Metric):
    """How often which class was taken for which: the matrix that TensorFlow 1 made ``mean_iou`` and its like of.

    Keras has it inside of ``tf.keras.metrics.MeanIoU`` alone. Precision, recall and F1
    of chosen classes are computed of it.

    Args:
        num_classes: number of classes.
        name: name of the metric.
    """

    def __init__(self, num_classes: int, name: str = "confusion_matrix", **kwargs: Any) -> None:
        super().__init__(name=name, **{"dtype": "float64", **kwargs})
        self.num_classes = num_classes
        self.matrix = self.add_weight(
            name="matrix", shape=(num_classes, num_classes), dtype="float64", initializer="zeros"
        )

    def update_state(self, labels: tf.Tensor, predictions: tf.Tensor, sample_weight: Any = None) -> None:
        """Add a batch; labels, predictions and weights are of one shape."""
        weights = None if sample_weight is None else tf.reshape(tf.cast(sample_weight, tf.float64), [-1])
        labels, predictions = tf.reshape(labels, [-1]), tf.reshape(predictions, [-1])
        batch = tf.math.confusion_matrix(
            labels, predictions, num_classes=self.num_classes, weights=weights, dtype=tf.float64
        )
        self.matrix.assign_add(batch)

    def result(self) -> tf.Tensor:
        """The matrix, float64 ``[num_classes, num_classes]``: true classes by row, predicted ones by column."""
        return tf.convert_to_tensor(self.matrix)

    def reset_state(self) -> None:
        """Forget all batches."""
        self.matrix.assign(tf.zeros_like(self.matrix))

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "num_classes": self.num_classes}


def match_classes(labels: Labels, top_classes: tf.Tensor, class_id: Optional[int]) -> tuple[tf.Tensor, ...]:
    """Compare the predicted classes of each example with its labels, as sets.

    Args:
        labels: int64 of shape ``[batch]`` or ``[batch, num_labels]``, dense or sparse.
        top_classes: int of shape ``[batch, k]``.
        class_id: compare for this class only.

    Returns:
        Numbers of true positives, false positives and false negatives, each float of shape ``[batch]``.
    """
    top_classes = tf.cast(top_classes, tf.int64)
    if not isinstance(labels, tf.SparseTensor):
        labels = tf.cast(labels, tf.int64)
        labels = tf.expand_dims(labels, -1) if labels.shape.rank == 1 else labels
    if class_id is not None:
        dense = tf.sparse.to_dense(labels, default_value=-1) if isinstance(labels, tf.SparseTensor) else labels
        expected = tf.reduce_any(dense == class_id, axis=-1)
        predicted = tf.reduce_any(top_classes == class_id, axis=-1)
        counts = (expected & predicted, predicted & ~expected, expected & ~predicted)
    else:
        found = (
            tf.sets.intersection(top_classes, labels),
            tf.sets.difference(top_classes, labels),
            tf.sets.difference(top_classes, labels, aminusb=False),
        )
        # A graph does not know the rank of sizes; Keras 3 asks for it.
        counts = tuple(tf.ensure_shape(tf.sets.size(one), top_classes.shape[:-1]) for one in found)
    return tuple(tf.cast(count, tf.float32) for count in counts)


class PrecisionAtK(tf.keras.metrics.Mean):
    """``tf.compat.v1.metrics.precision_at_k``: share of the k best classes that are labels.

    ``tf.keras.metrics.Precision(top_k=...)`` wants one-hot labels. Where nothing is predicted the result is NaN.

    Args:
        k: number of classes to take; None where ``update_state`` gets class ids, as ``precision_at_top_k`` did.
        class_id: count for this class only.
        name: name of the metric.
    """

    def __init__(
        self, k: Optional[int] = None, class_id: Optional[int] = None, name: str = "precision_at_k", **kwargs: Any
    ) -> None:
        super().__init__(name=name, **kwargs)
        self.k = k
        self.class_id = class_id

    def update_state(self, labels: Labels, predictions: tf.Tensor, sample_weight: Any = None) -> Any:
        """Add labels ``[batch(, num_labels)]`` and scores ``[batch, num_classes]`` (or ids); weights ``[batch]``."""
        top_classes = predictions if self.k is None else tf.math.top_k(predictions, self.k).indices
        hits, false_alarms, _ = match_classes(labels, top_classes, self.class_id)
        weight = 1.0 if sample_weight is None else tf.cast(sample_weight, tf.float32)
        total = hits + false_alarms
        return super().update_state(tf.math.divide_no_nan(hits, total), sample_weight=total * weight)

    def result(self) -> tf.Tensor:
        """The share, a float scalar."""
        return tf.convert_to_tensor(self.total) / self.count

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "k": self.k, "class_id": self.class_id}


class RecallAtK(tf.keras.metrics.Mean):
    """``tf.compat.v1.metrics.recall_at_k``: share of the labels that are among the k best classes.

    ``tf.keras.metrics.Recall(top_k=...)`` wants one-hot labels. Where there is no label the result is NaN.

    Args:
        k: number of classes to take; None where ``update_state`` gets class ids, as ``recall_at_top_k`` did.
        class_id: count for this class only.
        name: name of the metric.
    """

    def __init__(
        self, k: Optional[int] = None, class_id: Optional[int] = None, name: str = "recall_at_k", **kwargs: Any
    ) -> None:
        super().__init__(name=name, **kwargs)
        self.k = k
        self.class_id = class_id

    def update_state(self, labels: Labels, predictions: tf.Tensor, sample_weight: Any = None) -> Any:
        """Add labels ``[batch(, num_labels)]`` and scores ``[batch, num_classes]`` (or ids); weights ``[batch]``."""
        top_classes = predictions if self.k is None else tf.math.top_k(predictions, self.k).indices
        hits, _, misses = match_classes(labels, top_classes, self.class_id)
        weight = 1.0 if sample_weight is None else tf.cast(sample_weight, tf.float32)
        total = hits + misses
        return super().update_state(tf.math.divide_no_nan(hits, total), sample_weight=total * weight)

    def result(self) -> tf.Tensor:
        """The share, a float scalar."""
        return tf.convert_to_tensor(self.total) / self.count

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "k": self.k, "class_id": self.class_id}


class AveragePrecisionAtK(tf.keras.metrics.Mean):
    """``tf.compat.v1.metrics.average_precision_at_k``: mean average precision of the k best classes.

    Keras has no such metric.

    Args:
        k: number of classes to take.
        name: name of the metric.
    """

    def __init__(self, k: int, name: str = "average_precision_at_k", **kwargs: Any) -> None:
        super().__init__(name=name, **kwargs)
        self.k = k

    def update_state(self, labels: Labels, predictions: tf.Tensor, sample_weight: Any = None) -> Any:
        """Add a batch: labels ``[batch(, num_labels)]``, scores ``[batch, num_classes]``, weights ``[batch]``.

        Labels that are no class are padding. An example without labels makes the mean NaN, as in TF1.
        """
        if isinstance(labels, tf.SparseTensor):
            labels = tf.sparse.to_dense(labels, default_value=-1)
        labels = tf.cast(labels, tf.int64)
        labels = tf.expand_dims(labels, -1) if labels.shape.rank == 1 else labels
        top_classes = tf.cast(tf.math.top_k(predictions, self.k).indices, tf.int64)
        relevant = tf.reduce_any(top_classes[:, :, tf.newaxis] == labels[:, tf.newaxis, :], axis=-1)
        relevant = tf.cast(relevant, tf.float32)
        precision = tf.cumsum(relevant, axis=-1) / tf.range(1.0, self.k + 1.0)
        is_class = (labels >= 0) & (labels < tf.shape(predictions, out_type=tf.int64)[-1])
        num_labels = tf.reduce_sum(tf.cast(is_class, tf.float32), axis=-1)
        average = tf.reduce_sum(precision * relevant, axis=-1) / tf.minimum(num_labels, float(self.k))
        return super().update_state(average, sample_weight=sample_weight)

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "k": self.k}

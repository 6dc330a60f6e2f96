"""Metrics of ``tf.contrib.metrics`` that neither ``tf.metrics`` nor Keras has."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from migrator.runtime.losses_metrics.mean_errors import same_rank, weights_of
from migrator.runtime.losses_metrics.metrics import ThresholdAUC


class BestF1Score(ThresholdAUC):
    """``tf.contrib.metrics.f1_score``: the best F1 score among evenly spaced thresholds of probabilities.

    ``tf.keras.metrics.F1Score`` has one threshold.

    Args:
        num_thresholds: number of thresholds to choose from.
        name: name of the metric.
    """

    def __init__(self, num_thresholds: int = 200, name: str = "f1_score", **kwargs: Any) -> None:
        super().__init__(num_thresholds=num_thresholds, name=name, **kwargs)

    def result(self) -> tf.Tensor:
        """The score, a float scalar."""
        epsilon = 1e-7
        tp = tf.convert_to_tensor(self.true_positives)
        precision = tp / (epsilon + tp + self.false_positives)
        recall = tp / (epsilon + tp + self.false_negatives)
        return tf.reduce_max(2.0 * precision * recall / (precision + recall + epsilon))


class PearsonCorrelation(tf.keras.metrics.Metric):
    """``tf.contrib.metrics.streaming_pearson_correlation``: how far predictions are a linear function of labels.

    Means and moments of batches are joined as in TF1, which follows Chan et al., "Updating formulae and a pairwise
    algorithm for computing sample variances" (1979). Keras 2 has no such metric.

    Args:
        name: name of the metric.
    """

    def __init__(self, name: str = "pearson_correlation", **kwargs: Any) -> None:
        super().__init__(name=name, **kwargs)
        self.count = self.add_weight(name="count", shape=(), initializer="zeros")
        self.means = self.add_weight(name="means", shape=(2,), initializer="zeros")
        self.moments = self.add_weight(name="moments", shape=(3,), initializer="zeros")

    def update_state(self, labels: Any, predictions: Any, sample_weight: Any = None) -> None:
        """Add a batch of float labels and predictions of one shape; weights, as frequencies, broadcast to them."""
        labels, predictions = same_rank(tf.cast(labels, tf.float32), predictions)
        weights = weights_of(labels, sample_weight)
        batch_count = tf.reduce_sum(weights)
        total = self.count + batch_count
        values = tf.stack([predictions, labels])
        axes = list(range(1, values.shape.rank))
        batch_means = tf.math.divide_no_nan(tf.reduce_sum(values * weights, axis=axes), batch_count)
        before = tf.convert_to_tensor(self.means)
        residuals = [value - mean for value, mean in zip((predictions, labels), tf.unstack(batch_means))]
        pairs = ((0, 1), (0, 0), (1, 1))
        moments = tf.stack([tf.reduce_sum(residuals[i] * residuals[j] * weights) for i, j in pairs])
        shift = before - batch_means
        between = tf.stack([shift[i] * shift[j] for i, j in pairs]) * (self.count * batch_count / total)
        self.means.assign_add(tf.math.divide_no_nan((batch_means - before) * batch_count, total))
        self.moments.assign_add(moments + between)
        self.count.assign(total)

    def result(self) -> tf.Tensor:
        """The coefficient, a float scalar in [-1, 1]; NaN for less than two examples."""
        count = tf.convert_to_tensor(self.count)
        moments = tf.convert_to_tensor(self.moments) / (count - 1.0)
        correlation = moments[0] / (tf.sqrt(moments[1]) * tf.sqrt(moments[2]))
        return tf.where(count <= 1.0, tf.constant(float("nan")), correlation)

    def reset_state(self) -> None:
        """Forget all batches."""
        for variable in (self.count, self.means, self.moments):
            variable.assign(tf.zeros(variable.shape))

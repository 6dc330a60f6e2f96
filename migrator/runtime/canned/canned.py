"""The canned Estimators as Keras models: linear, dense network, both, baseline."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import tensorflow as tf

from migrator.runtime.canned.heads import Head, RegressionHead, class_head
from migrator.runtime.columns.feature_columns import ConstantLogits, DenseNetwork, LinearFeatures
from migrator.runtime.losses_metrics.metrics import BatchMean
from migrator.runtime.training.config import RunConfig
from migrator.runtime.training.layer_summaries import when_recording, write_outputs, write_weights
from migrator.runtime.training.training import configure


def summary_scope(part: str, summary_tags: str) -> str:
    """What TensorFlow 1 (``v1``) puts before the tags of a part's summaries, and TensorFlow 2 (``v2``) does not."""
    return f"{part}/" if summary_tags == "v1" else ""


class LinearPart(LinearFeatures):
    """A linear model that writes summaries of its weights in training, and of its output if that has an `output_tag`."""

    def __init__(self, *args: Any, summary_scope: str, output_tag: str = "") -> None:
        super().__init__(*args)
        self.summary_scope, self.output_tag = summary_scope, output_tag

    def call(self, features: Any, training: bool = False) -> tf.Tensor:
        logits = super().call(features)
        if training:
            when_recording(lambda: self.write_summaries(logits))
        return logits

    def write_summaries(self, logits: tf.Tensor) -> None:
        write_weights(self.summary_scope, self)
        if self.output_tag:
            write_outputs({self.output_tag: logits})


class CannedModel(tf.keras.Model):
    """A head on the sum of the logits of its parts, each of which may have an optimizer of its own.

    Input: features by name. Output: the predictions of the head. `summary_tags`: see `compile_canned`.
    """

    def __init__(
        self, head: Head, parts: Sequence[tf.keras.layers.Layer], optimizers: Sequence[Any], summary_tags: str = "v1"
    ) -> None:
        super().__init__(autocast=False)  # float64 features are bucketized as they are
        self.summary_tags = summary_tags
        self.head, self.parts = head, list(parts)
        self.part_optimizers = list(optimizers)
        self.loss_metric = BatchMean(name="loss")
        self.head_metrics = head.metrics()

    def call(self, features: Any, training: bool = False) -> dict[str, tf.Tensor]:
        return self.head.predictions(tf.add_n([part(features, training=training) for part in self.parts]))

    def serving_outputs(self, features: Any) -> dict[str, Any]:
        """Outputs of an exported model by signature."""
        return self.head.serving_outputs(self(features, training=False))

    def compute_loss(self, x: Any = None, y: Any = None, y_pred: Any = None, sample_weight: Any = None) -> tf.Tensor:
        loss = self.head.loss(x, y, y_pred)
        self.loss_metric.update_state(loss)
        return loss

    def compute_metrics(self, x: Any, y: Any, y_pred: Any, sample_weight: Any) -> dict[str, Any]:
        self.head.update_all(self.head_metrics, x, y, y_pred)
        results: dict[str, Any] = self.get_metrics_result()
        return results

    def train_step(self, data: Any) -> dict[str, Any]:
        """One step of each optimizer for its part; metrics are left to the evaluation."""
        features, labels = data
        with tf.GradientTape() as tape:
            outputs = self(features, training=True)
            loss = self.compute_loss(features, labels, outputs)

        def write_scalars() -> None:
            scalars = self.head.training_scalars(features, labels, outputs, mean=self.summary_tags == "v1")
            for tag, value in scalars.items():
                tf.summary.scalar(tag, value)

        when_recording(write_scalars)
        variables = [part.trainable_variables for part in self.parts]
        for optimizer, *step in zip(self.part_optimizers, tape.gradient(loss, variables), variables):
            optimizer.apply_gradients(zip(*step))
        return {"loss": self.loss_metric.result()}


def compile_canned(
    head: Head, parts: Any, config: RunConfig | None, model_dir: str | None, summary_tags: str
) -> tf.keras.Model:
    """Compiles a `CannedModel`. `parts` are layers, each with its optimizer or a function that makes it.

    `summary_tags`: which Estimators summaries have the tags of: ``v1``, ``dnn/dnn/logits/activation`` for example, or
    ``v2``, ``dnn/logits/activation``, which also have no ``average_loss``.
    """
    layers, optimizers = zip(*parts)
    made = [optimizer() if callable(optimizer) else optimizer for optimizer in optimizers]
    model = CannedModel(head, layers, made, summary_tags)
    model.compile(optimizer=made[0], steps_per_execution=100)
    return configure(model, config, model_dir=model_dir)


def linear_estimator(
    head: Head,
    feature_columns: Iterable[Any],
    optimizer: Any,
    sparse_combiner: str = "sum",
    model_dir: str | None = None,
    config: RunConfig | None = None,
    summary_tags: str = "v1",
) -> tf.keras.Model:
    """``estimator.LinearEstimator``: a weighted sum of feature columns."""
    linear = LinearPart(
        feature_columns, head.units, sparse_combiner, summary_scope=summary_scope("linear", summary_tags)
    )
    return compile_canned(head, [(linear, optimizer)], config, model_dir, summary_tags)


def linear_classifier(
    feature_columns: Iterable[Any],
    optimizer: Any,
    loss_reduction: str,
    n_classes: int = 2,
    weight_column: Any = None,
    label_vocabulary: Sequence[str] | None = None,
    interpolate_auc: bool = False,
    **others: Any,
) -> tf.keras.Model:
    """``estimator.LinearClassifier``; `others` as for `linear_estimator`."""
    head = class_head(n_classes, weight_column, label_vocabulary, loss_reduction, interpolate_auc)
    return linear_estimator(head, feature_columns, optimizer, **others)


def linear_regressor(
    feature_columns: Iterable[Any],
    optimizer: Any,
    loss_reduction: str,
    label_dimension: int = 1,
    weight_column: Any = None,
    **others: Any,
) -> tf.keras.Model:
    """``estimator.LinearRegressor``; `others` as for `linear_estimator`."""
    head = RegressionHead(weight_column, label_dimension, loss_reduction)
    return linear_estimator(head, feature_columns, optimizer, **others)


def dnn_estimator(
    head: Head,
    hidden_units: Sequence[int],
    feature_columns: Iterable[Any],
    optimizer: Any,
    activation_fn: Any = tf.nn.relu,
    dropout: float | None = None,
    batch_norm: bool = False,
    model_dir: str | None = None,
    config: RunConfig | None = None,
    summary_tags: str = "v1",
) -> tf.keras.Model:
    """``estimator.DNNEstimator``: a network of dense layers; see `DenseNetwork`."""
    scope = summary_scope("dnn", summary_tags) + "dnn/"
    network = DenseNetwork(head.units, hidden_units, feature_columns, activation_fn, dropout, batch_norm, scope)
    return compile_canned(head, [(network, optimizer)], config, model_dir, summary_tags)


def dnn_classifier(
    hidden_units: Sequence[int],
    feature_columns: Iterable[Any],
    optimizer: Any,
    loss_reduction: str,
    n_classes: int = 2,
    weight_column: Any = None,
    label_vocabulary: Sequence[str] | None = None,
    interpolate_auc: bool = False,
    **others: Any,
) -> tf.keras.Model:
    """``estimator.DNNClassifier``; `others` as for `dnn_estimator`."""
    head = class_head(n_classes, weight_column, label_vocabulary, loss_reduction, interpolate_auc)
    return dnn_estimator(head, hidden_units, feature_columns, optimizer, **others)


def dnn_regressor(
    hidden_units: Sequence[int],
    feature_columns: Iterable[Any],
    optimizer: Any,
    loss_reduction: str,
    label_dimension: int = 1,
    weight_column: Any = None,
    **others: Any,
) -> tf.keras.Model:
    """``estimator.DNNRegressor``; `others` as for `dnn_estimator`."""
    head = RegressionHead(weight_column, label_dimension, loss_reduction)
    return dnn_estimator(head, hidden_units, feature_columns, optimizer, **others)


def dnn_linear_combined_estimator(
    head: Head,
    linear_feature_columns: Iterable[Any] | None = None,
    linear_optimizer: Any = None,
    dnn_feature_columns: Iterable[Any] | None = None,
    dnn_optimizer: Any = None,
    dnn_hidden_units: Sequence[int] | None = None,
    dnn_activation_fn: Any = tf.nn.relu,
    dnn_dropout: float | None = None,
    batch_norm: bool = False,
    linear_sparse_combiner: str = "sum",
    model_dir: str | None = None,
    config: RunConfig | None = None,
    summary_tags: str = "v1",
) -> tf.keras.Model:
    """``estimator.DNNLinearCombinedEstimator``: "wide and deep", each with an optimizer of its own."""
    parts: list[Any] = []
    if dnn_feature_columns:
        if not dnn_hidden_units:
            raise ValueError("dnn_hidden_units must be given where dnn_feature_columns are.")
        scope = summary_scope("dnn", summary_tags) + "dnn/"
        network = DenseNetwork(
            head.units, dnn_hidden_units, dnn_feature_columns, dnn_activation_fn, dnn_dropout, batch_norm, scope
        )
        parts.append((network, dnn_optimizer))
    if linear_feature_columns:
        scope = summary_scope("linear", summary_tags)
        columns = (linear_feature_columns, head.units, linear_sparse_combiner)
        parts.append((LinearPart(*columns, summary_scope=scope, output_tag=f"{scope}linear"), linear_optimizer))
    if not parts:
        raise ValueError("Give linear_feature_columns or dnn_feature_columns.")
    return compile_canned(head, parts, config, model_dir, summary_tags)


def dnn_linear_combined_classifier(
    loss_reduction: str,
    n_classes: int = 2,
    weight_column: Any = None,
    label_vocabulary: Sequence[str] | None = None,
    interpolate_auc: bool = False,
    **others: Any,
) -> tf.keras.Model:
    """``estimator.DNNLinearCombinedClassifier``; `others` as for `dnn_linear_combined_estimator`."""
    head = class_head(n_classes, weight_column, label_vocabulary, loss_reduction, interpolate_auc)
    return dnn_linear_combined_estimator(head, **others)


def dnn_linear_combined_regressor(
    loss_reduction: str, label_dimension: int = 1, weight_column: Any = None, **others: Any
) -> tf.keras.Model:
    """``estimator.DNNLinearCombinedRegressor``; `others` as for `dnn_linear_combined_estimator`."""
    return dnn_linear_combined_estimator(RegressionHead(weight_column, label_dimension, loss_reduction), **others)


def baseline_estimator(
    head: Head,
    optimizer: Any,
    model_dir: str | None = None,
    config: RunConfig | None = None,
    summary_tags: str = "v1",
) -> tf.keras.Model:
    """``estimator.BaselineEstimator``: the same prediction for every example."""
    return compile_canned(head, [(ConstantLogits(head.units), optimizer)], config, model_dir, summary_tags)


def baseline_classifier(
    optimizer: Any,
    loss_reduction: str,
    n_classes: int = 2,
    weight_column: Any = None,
    label_vocabulary: Sequence[str] | None = None,
    interpolate_auc: bool = False,
    **others: Any,
) -> tf.keras.Model:
    """``estimator.BaselineClassifier``; `others` as for `baseline_estimator`."""
    head = class_head(n_classes, weight_column, label_vocabulary, loss_reduction, interpolate_auc)
    return baseline_estimator(head, optimizer, **others)


def baseline_regressor(
    optimizer: Any, loss_reduction: str, label_dimension: int = 1, weight_column: Any = None, **others: Any
) -> tf.keras.Model:
    """``estimator.BaselineRegressor``; `others` as for `baseline_estimator`."""
    return baseline_estimator(RegressionHead(weight_column, label_dimension, loss_reduction), optimizer, **others)

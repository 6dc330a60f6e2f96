"""The metrics, and the Keras metrics that replace ``tf.metrics``, against TensorFlow 1's own over four batches."""

from __future__ import annotations

from typing import Any, Callable

import numpy as np
import pytest
import tensorflow as tf
from tensorflow.python.ops.metrics_impl import _streaming_confusion_matrix

from migrator.runtime.losses_metrics.metrics import (
    AveragePrecisionAtK,
    BatchMean,
    ConfusionMatrix,
    MeanPerClassAccuracy,
    PrecisionAtK,
    RecallAtK,
    RiemannAUC,
    SensitivityNearSpecificity,
    SpecificityNearSensitivity,
)

v1 = tf.compat.v1.metrics
keras = tf.keras.metrics
random = np.random.RandomState(0)
Batch = tuple[np.ndarray, ...]


def batches(labels: Callable[[], Any], predictions: Callable[[], Any], weight_shape: tuple[int, ...]) -> list[Batch]:
    """Four batches of labels, predictions and weights with zeros among them."""
    return [
        (labels(), predictions(), random.choice([0.0, 0.5, 1.0, 2.0], weight_shape).astype("float32")) for _ in range(4)
    ]


def uniform(*shape: int) -> Callable[[], np.ndarray]:
    return lambda: random.uniform(0.0, 1.0, shape).astype("float32")


def integers(high: int, *shape: int) -> Callable[[], np.ndarray]:
    return lambda: random.randint(0, high, shape)


def distinct(high: int, count: int) -> Callable[[], np.ndarray]:
    return lambda: np.stack([random.choice(high, count, replace=False) for _ in range(10)]).astype("int64")


BINARY = batches(integers(2, 10), uniform(10), (10,))
BINARY_COLUMN = batches(integers(2, 10, 1), uniform(10, 1), (10, 1))
GRID = batches(integers(2, 10), lambda: random.randint(0, 11, 10).astype("float32") / 10.0, (10,))
CLASSES = batches(integers(5, 10), integers(5, 10), (10,))
CLASSES_COLUMN = batches(integers(5, 10, 1), integers(5, 10, 1), (10, 1))
CLASSES_MIXED = batches(integers(3, 10, 1), integers(3, 10), (10,))
VALUES = batches(uniform(10), uniform(10), (10,))
VALUES_COLUMN = batches(uniform(10, 1), uniform(10, 1), (10, 1))
VALUES_MATRIX = batches(uniform(10, 3), uniform(10, 3), (10, 1))
VALUES_ELEMENT = batches(uniform(10, 3), uniform(10, 3), (10, 3))
ONE_LABEL = batches(integers(6, 10), uniform(10, 6), (10,))
TWO_LABELS = batches(distinct(6, 2), uniform(10, 6), (10,))
PADDED = batches(lambda: np.where(random.rand(10, 3) < 0.3, -1, [0, 2, 4]), uniform(10, 6), (10,))
TOP_CLASSES = batches(distinct(6, 2), distinct(6, 3), (10,))


def to_bool(value: Any) -> tf.Tensor:
    return tf.cast(value, tf.bool)


def mean_of(values: Callable[[Any, Any], tf.Tensor]) -> Callable[[Any, Any, Any, Any], Any]:
    return lambda m, y, p, w: m.update_state(values(y, p), sample_weight=w)


def plain(m: Any, y: Any, p: Any, w: Any) -> None:
    m.update_state(y, p, sample_weight=w)


def of_bools(m: Any, y: Any, p: Any, w: Any) -> None:
    m.update_state(to_bool(y), to_bool(p), sample_weight=w)


# name: (the metric of TF1, its replacement, how the replacement is updated, the examples it is compared on)
METRICS: dict[str, tuple[Any, Callable[[], Any], Callable[..., Any], list[list[Batch]]]] = {
    "accuracy": (v1.accuracy, keras.Accuracy, plain, [CLASSES, CLASSES_COLUMN]),
    "accuracy as a mean": (
        v1.accuracy,
        keras.Mean,
        mean_of(lambda y, p: tf.equal(y, tf.cast(p, y.dtype))),
        [CLASSES, CLASSES_COLUMN, BINARY],
    ),
    "mean": (
        lambda y, p, w=None: v1.mean(p, w),
        keras.Mean,
        mean_of(lambda y, p: p),
        [VALUES, VALUES_COLUMN, VALUES_MATRIX, VALUES_ELEMENT],
    ),
    "mean_squared_error": (
        v1.mean_squared_error,
        keras.Mean,
        mean_of(tf.math.squared_difference),
        [VALUES, VALUES_COLUMN, VALUES_MATRIX, VALUES_ELEMENT],
    ),
    "root_mean_squared_error": (
        v1.root_mean_squared_error,
        keras.RootMeanSquaredError,
        plain,
        [VALUES, VALUES_COLUMN, VALUES_MATRIX, VALUES_ELEMENT],
    ),
    "mean_absolute_error": (
        v1.mean_absolute_error,
        keras.Mean,
        mean_of(lambda y, p: tf.abs(p - y)),
        [VALUES, VALUES_COLUMN, VALUES_MATRIX, VALUES_ELEMENT],
    ),
    "mean_relative_error": (
        lambda y, p, w=None: v1.mean_relative_error(y, p, tf.round(y), w),
        keras.Mean,
        mean_of(lambda y, p: tf.math.divide_no_nan(tf.abs(y - p), tf.round(y))),
        [VALUES, VALUES_COLUMN],
    ),
    "mean_cosine_distance": (
        lambda y, p, w=None: v1.mean_cosine_distance(y, p, 1, w),
        keras.Mean,
        mean_of(lambda y, p: 1.0 - tf.reduce_sum(y * p, axis=1, keepdims=True)),
        [VALUES_MATRIX],
    ),
    "percentage_below": (
        lambda y, p, w=None: v1.percentage_below(p, 0.4, w),
        keras.Mean,
        mean_of(lambda y, p: tf.cast(p < 0.4, tf.float32)),
        [VALUES, VALUES_MATRIX],
    ),
    "precision": (v1.precision, keras.Precision, of_bools, [BINARY, BINARY_COLUMN, CLASSES]),
    "recall": (v1.recall, keras.Recall, of_bools, [BINARY, BINARY_COLUMN, CLASSES]),
    "true_positives": (v1.true_positives, keras.TruePositives, of_bools, [BINARY, CLASSES]),
    "true_negatives": (v1.true_negatives, keras.TrueNegatives, of_bools, [BINARY, CLASSES]),
    "false_positives": (v1.false_positives, keras.FalsePositives, of_bools, [BINARY, CLASSES]),
    "false_negatives": (v1.false_negatives, keras.FalseNegatives, of_bools, [BINARY, CLASSES]),
    **{
        f"{name}_at_thresholds": (
            lambda y, p, w=None, name=name: getattr(v1, f"{name}_at_thresholds")(y, p, [0.3, 0.5, 0.9], w),
            lambda cls=cls: cls(thresholds=[0.3, 0.5, 0.9]),
            plain,
            [BINARY_COLUMN],
        )
        for name, cls in {
            "precision": keras.Precision,
            "recall": keras.Recall,
            "true_positives": keras.TruePositives,
            "true_negatives": keras.TrueNegatives,
            "false_positives": keras.FalsePositives,
            "false_negatives": keras.FalseNegatives,
        }.items()
    },
    "auc": (v1.auc, keras.AUC, plain, [BINARY, BINARY_COLUMN, GRID]),
    "auc exact": (v1.auc, RiemannAUC, plain, [BINARY, BINARY_COLUMN, GRID]),
    "auc 50 thresholds": (
        lambda y, p, w=None: v1.auc(y, p, w, num_thresholds=50),
        lambda: keras.AUC(num_thresholds=50),
        plain,
        [BINARY],
    ),
    "auc careful PR": (
        lambda y, p, w=None: v1.auc(y, p, w, curve="PR", summation_method="careful_interpolation"),
        lambda: keras.AUC(curve="PR"),
        plain,
        [BINARY],
    ),
    **{
        f"auc {curve} {method}": (
            lambda y, p, w=None, c=curve, s=method: v1.auc(y, p, w, curve=c, summation_method=s),
            lambda c=curve, s=method: RiemannAUC(curve=c, summation_method=s),
            plain,
            [BINARY, GRID],
        )
        for curve in ("ROC", "PR")
        for method in ("trapezoidal", "minoring", "majoring")
    },
    "auc own thresholds": (
        lambda y, p, w=None: v1.auc(y, p, w, thresholds=[0.2, 0.5, 0.7], curve="PR"),
        lambda: RiemannAUC(thresholds=[0.2, 0.5, 0.7], curve="PR"),
        plain,
        [BINARY],
    ),
    **{
        f"sensitivity_at_specificity {value}": (
            lambda y, p, w=None, value=value: v1.sensitivity_at_specificity(y, p, value, w),
            lambda value=value: SensitivityNearSpecificity(value),
            plain,
            [BINARY, GRID],
        )
        for value in (0.0, 0.4, 0.9)
    },
    **{
        f"specificity_at_sensitivity {value}": (
            lambda y, p, w=None, value=value: v1.specificity_at_sensitivity(y, p, value, w),
            lambda value=value: SpecificityNearSensitivity(value),
            plain,
            [BINARY, GRID],
        )
        for value in (0.0, 0.4, 0.9)
    },
    "mean_iou": (
        lambda y, p, w=None: v1.mean_iou(y, p, 5, w),
        lambda: keras.MeanIoU(5),
        plain,
        [CLASSES, CLASSES_COLUMN],
    ),
    "mean_per_class_accuracy": (
        lambda y, p, w=None: v1.mean_per_class_accuracy(y, p, 6, w),
        lambda: MeanPerClassAccuracy(6),
        plain,
        [CLASSES, CLASSES_COLUMN, CLASSES_MIXED],
    ),
    "confusion_matrix": (
        lambda y, p, w=None: _streaming_confusion_matrix(y, p, 6, w),
        lambda: ConfusionMatrix(6),
        plain,
        [CLASSES, CLASSES_COLUMN],
    ),
    **{
        f"{name}_at_k of class {class_id}": (
            lambda y, p, w=None, name=name, i=class_id: getattr(v1, f"{name}_at_k")(y, p, 2, class_id=i, weights=w),
            lambda cls=cls, i=class_id: cls(2, class_id=i),
            plain,
            [ONE_LABEL, TWO_LABELS, PADDED],
        )
        for name, cls in {"precision": PrecisionAtK, "recall": RecallAtK}.items()
        for class_id in (None, 2)
    },
    "precision_at_top_k": (
        lambda y, p, w=None: v1.precision_at_top_k(y, p, 3, weights=w),
        PrecisionAtK,
        plain,
        [TOP_CLASSES],
    ),
    "recall_at_top_k": (
        lambda y, p, w=None: v1.recall_at_top_k(y, p, 3, weights=w),
        RecallAtK,
        plain,
        [TOP_CLASSES],
    ),
    "average_precision_at_k": (
        lambda y, p, w=None: v1.average_precision_at_k(y, p, 3, w),
        lambda: AveragePrecisionAtK(3),
        plain,
        [ONE_LABEL, TWO_LABELS, PADDED],
    ),
}


def run_v1(build: Callable[..., list[Any]], examples: list[Batch]) -> list[np.ndarray]:
    """The values of TF1 metrics after all batches; ``build`` gets labels, predictions and weights."""
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        inputs = [tf.compat.v1.placeholder(array.dtype, array.shape) for array in examples[0]]
        values, updates = zip(*build(*inputs))
        session.run(tf.compat.v1.local_variables_initializer())
        for batch in examples:
            session.run(updates, dict(zip(inputs, batch)))
        return [np.asarray(value) for value in session.run(values)]


@pytest.mark.parametrize("name", METRICS)
def test_replacement_equals_tf1_without_and_with_weights(name: str) -> None:
    reference, create, update, all_examples = METRICS[name]
    for examples in all_examples:
        plain_metric, weighted_metric = create(), create()
        for labels, predictions, weights in examples:
            update(plain_metric, tf.constant(labels), tf.constant(predictions), None)
            update(weighted_metric, tf.constant(labels), tf.constant(predictions), tf.constant(weights))
        actual = [np.asarray(metric.result()) for metric in (plain_metric, weighted_metric)]
        expected = run_v1(lambda y, p, w: [reference(y, p), reference(y, p, w)], examples)
        np.testing.assert_allclose(actual, expected, rtol=1e-6, atol=1e-7)


def test_keras_classes_that_look_the_same_differ() -> None:
    """The reason for the classes of our own; should this fail, one of them has become needless."""

    def difference(reference: Any, metric: Any) -> float:
        for labels, predictions, _ in BINARY:
            metric.update_state(labels, predictions)
        [expected] = run_v1(lambda y, p, w: [reference(y, p)], BINARY)
        return abs(float(metric.result()) - float(expected))

    assert difference(lambda y, p: v1.auc(y, p, curve="PR"), keras.AUC(curve="PR")) > 1e-4
    assert difference(v1.precision, keras.Precision()) > 1e-2


def test_sparse_labels_of_different_length() -> None:
    rows = [[1, 3], [0], [2, 4, 5], [1]]
    indices = [(i, j) for i, row in enumerate(rows) for j in range(len(row))]
    values = np.array([label for row in rows for label in row], "int64")
    scores = random.rand(4, 6).astype("float32")

    def expected(reference: Any) -> Any:
        with tf.Graph().as_default(), tf.compat.v1.Session() as session:
            value, update = reference(tf.SparseTensor(indices, values, (4, 3)), tf.constant(scores), 2)
            session.run(tf.compat.v1.local_variables_initializer())
            session.run(update)
            return session.run(value)

    labels = tf.SparseTensor(indices, values, (4, 3))
    for metric, reference in (
        (PrecisionAtK(2), v1.sparse_precision_at_k),
        (RecallAtK(2), v1.recall_at_k),
        (AveragePrecisionAtK(2), v1.sparse_average_precision_at_k),
    ):
        metric.update_state(labels, scores)
        np.testing.assert_allclose(float(metric.result()), expected(reference), rtol=1e-6)


def test_mean_tensor() -> None:
    metric = keras.MeanTensor()
    for _, predictions, weights in VALUES_ELEMENT:
        metric.update_state(predictions, sample_weight=weights)
    [expected] = run_v1(lambda y, p, w: [v1.mean_tensor(p, w)], VALUES_ELEMENT)
    np.testing.assert_allclose(metric.result(), expected, rtol=1e-6)


def test_batch_mean_gives_a_short_last_batch_its_full_weight() -> None:
    metric = BatchMean(name="loss")
    for batch in ([1.0, 2.0, 3.0, 4.0], [10.0]):
        metric.update_state(tf.constant(batch))
    assert float(metric.result()) == (2.5 + 10.0) / 2
    metric.reset_state()
    metric.update_state(3.0)
    assert float(metric.result()) == 3.0


@pytest.mark.parametrize(
    "metric",
    [
        BatchMean(name="loss"),
        RiemannAUC(curve="PR", summation_method="minoring", num_thresholds=20),
        SensitivityNearSpecificity(0.3, num_thresholds=20),
        SpecificityNearSensitivity(0.3, num_thresholds=20),
        MeanPerClassAccuracy(4),
        ConfusionMatrix(4),
        PrecisionAtK(2, class_id=1),
        RecallAtK(2),
        AveragePrecisionAtK(3),
    ],
    ids=lambda metric: type(metric).__name__,
)
def test_config_round_trip(metric: Any) -> None:
    copy = type(metric).from_config(metric.get_config())
    assert copy.get_config() == metric.get_config()
    assert [tuple(v.shape) for v in copy.variables] == [tuple(v.shape) for v in metric.variables]


@pytest.mark.parametrize(
    "metric",
    [
        BatchMean(name="loss"),
        RiemannAUC(curve="PR", num_thresholds=20),
        SensitivityNearSpecificity(0.3, num_thresholds=20),
        MeanPerClassAccuracy(2),
        ConfusionMatrix(2),
    ],
    ids=lambda metric: type(metric).__name__,
)
def test_reset_forgets_all_batches(metric: Any) -> None:
    labels, predictions, _ = BINARY[0]
    arguments = (predictions,) if isinstance(metric, BatchMean) else (labels, predictions)
    metric.update_state(*arguments)
    assert any(np.any(v.numpy()) for v in metric.variables)
    metric.reset_state()
    assert not any(np.any(v.numpy()) for v in metric.variables)


def test_metrics_update_inside_a_function() -> None:
    metrics = [RiemannAUC(curve="PR"), SpecificityNearSensitivity(0.5), MeanPerClassAccuracy(2)]

    @tf.function
    def update(labels: tf.Tensor, predictions: tf.Tensor) -> None:
        for metric in metrics[:2]:
            metric.update_state(labels, predictions)
        metrics[2].update_state(labels, tf.round(predictions))

    labels, predictions, _ = BINARY[0]
    update(labels, predictions)
    for metric, function in zip(metrics, (lambda p: p, lambda p: p, np.round)):
        eager = type(metric).from_config(metric.get_config())
        eager.update_state(labels, function(predictions))
        assert float(metric.result()) == float(eager.result())

"""Metrics that `compile` takes, and those that the model updates itself."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from modelfn.programs import PATH, TRAIN_OP, method, migrate, model_fn, run

v1 = tf.compat.v1
LOGITS = 'logits = tf.layers.dense(features["x"], 3)'
KERAS = "tf.keras.metrics."
ACCURACY = f'{KERAS}SparseCategoricalAccuracy(name="key")'


def source(metrics: str, before: str = LOGITS, after: str = "") -> str:
    body = f'{before}\npredictions = {{"class": tf.argmax(logits, 1), "p": tf.sigmoid(logits)}}'
    end = f"""
        loss = tf.losses.mean_squared_error(labels, logits)
        metrics = {{{metrics}}}
        {after}
        {TRAIN_OP}
        return tf.estimator.EstimatorSpec(
            mode, predictions=predictions, loss=loss, train_op=train_op, eval_metric_ops=metrics
        )
    """
    return model_fn(body, end=end)


def migrated(metrics: str, before: str = LOGITS, after: str = "", **settings: Any) -> str:
    return migrate(source(metrics, before, after), **settings)


@pytest.mark.parametrize(
    ("metric", "compiled"),
    [
        ("tf.metrics.accuracy(labels, tf.argmax(logits, 1))", ACCURACY),
        ("tf.metrics.accuracy(labels=labels, predictions=predictions['class'], name='acc')", ACCURACY),
        ("tf.metrics.accuracy(labels, tf.argmax(tf.nn.softmax(logits), axis=-1, output_type=tf.int32))", ACCURACY),
        ("tf.metrics.accuracy(tf.squeeze(labels, 1), tf.cast(tf.argmax(input=logits, axis=1), tf.int32))", ACCURACY),
        (
            "tf.metrics.accuracy(labels, tf.round(predictions['p']))",
            f'{KERAS}BinaryAccuracy(threshold=0.0, name="key")',
        ),
        (
            "tf.metrics.accuracy(labels, tf.cast(logits > 0, tf.float32))",
            f'{KERAS}BinaryAccuracy(threshold=0.0, name="key")',
        ),
        (
            "tf.metrics.accuracy(tf.to_float(labels), tf.to_float(tf.greater(tf.nn.sigmoid(logits), 0.5)))",
            f'{KERAS}BinaryAccuracy(threshold=0.0, name="key")',
        ),
        (
            "tf.metrics.precision(labels, tf.round(tf.sigmoid(logits)))",
            f'{KERAS}Precision(thresholds=0.0, name="key")',
        ),
        ("tf.metrics.recall(labels, tf.cast(logits > 0, tf.int64))", f'{KERAS}Recall(thresholds=0.0, name="key")'),
        (
            "tf.metrics.mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=tf.to_float(labels), logits=logits))",
            f'{KERAS}BinaryCrossentropy(from_logits=True, name="key")',
        ),
        (
            "tf.metrics.mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))",
            f'{KERAS}SparseCategoricalCrossentropy(from_logits=True, name="key")',
        ),
        ("tf.metrics.mean(tf.to_float(tf.equal(tf.argmax(logits, 1), labels)))", ACCURACY),
        ("tf.metrics.mean(tf.cast(tf.equal(tf.cast(labels, tf.int64), predictions['class']), tf.float32))", ACCURACY),
        (
            "tf.metrics.mean(tf.nn.in_top_k(logits, labels, 2))",
            f'{KERAS}SparseTopKCategoricalAccuracy(k=2, name="key")',
        ),
        (
            "tf.metrics.mean(tf.to_float(tf.nn.in_top_k(targets=labels, predictions=logits, k=5)))",
            f'{KERAS}SparseTopKCategoricalAccuracy(k=5, name="key")',
        ),
        ("tf.metrics.root_mean_squared_error(labels, logits)", f'{KERAS}RootMeanSquaredError(name="key")'),
        ("tf.metrics.mean_absolute_error(labels, logits)", f'{KERAS}MeanAbsoluteError(name="key")'),
        ("tf.metrics.mean_squared_error(labels, logits)", f'{KERAS}MeanSquaredError(name="key")'),
        ("tf.metrics.auc(labels, predictions['p'])", f'{KERAS}AUC(from_logits=True, name="key")'),
        ("tf.metrics.auc(tf.to_float(labels), tf.sigmoid(logits))", f'{KERAS}AUC(from_logits=True, name="key")'),
    ],
)
def test_compile_takes_the_metric(metric: str, compiled: str) -> None:
    text = migrated(f'"key": {metric}')
    assert f"metrics=[{compiled}]" in text
    assert "compute_metrics" not in text and "self.key" not in text


@pytest.mark.parametrize(
    "metric",
    [
        "tf.metrics.accuracy(labels, tf.argmax(logits, 1), weights=features['w'])",
        "tf.metrics.accuracy(labels, tf.argmax(logits, 0))",
        "tf.metrics.accuracy(labels, tf.argmax(-logits, 1))",
        "tf.metrics.accuracy(tf.argmax(labels, 1), tf.argmax(logits, 1))",
        "tf.metrics.accuracy(labels, tf.cast(logits > 0.5, tf.float32))",
        "tf.metrics.accuracy(labels, tf.cast(tf.sigmoid(logits) > params['threshold'], tf.float32))",
        "tf.metrics.auc(labels, tf.sigmoid(logits), weights=features['w'])",
        "tf.metrics.auc(labels, tf.nn.softmax(logits)[:, 1])",
        "tf.metrics.auc(labels, tf.sigmoid(logits), curve='PR')",
        "tf.metrics.root_mean_squared_error(labels, tf.exp(logits))",
        "tf.metrics.mean_absolute_error(labels, tf.exp(logits))",
        "tf.metrics.precision(labels, tf.sigmoid(logits))",
        "tf.metrics.recall(labels, tf.round(tf.sigmoid(logits)), weights=features['w'])",
        "tf.metrics.mean(logits)",
        "tf.metrics.mean(tf.to_float(tf.equal(tf.argmax(logits, 1), tf.argmax(labels, 1))))",
        "tf.metrics.mean(tf.nn.in_top_k(tf.exp(logits), labels, 2))",
        "tf.metrics.mean(tf.nn.in_top_k(logits, labels, params['k']))",
        "tf.metrics.mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits), weights=features['w'])",
        "tf.metrics.mean(2 * tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits))",
    ],
)
def test_what_keras_computes_otherwise_stays_an_attribute(metric: str) -> None:
    text = migrated(f'"key": {metric}')
    assert "metrics=[" not in text and "self.key.update_state(" in method(text, "compute_metrics")


@pytest.mark.parametrize(
    "metric",
    [
        "accuracy(labels, tf.round(tf.sigmoid(logits)))",
        "mean_absolute_error(labels, logits)",
        "recall(labels, tf.round(tf.sigmoid(logits)))",
        "mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits))",
    ],
)
def test_a_flat_output(metric: str) -> None:
    text = migrated(f'"key": tf.metrics.{metric}', f"{LOGITS}\nlogits = logits[:, 0]")
    assert "metrics=[" not in text  # Keras would count each batch once


def test_masks_that_keras_would_heed() -> None:
    embedded = 'net = tf.keras.layers.Embedding(9, 3, mask_zero=True)(features["x"])\nlogits = tf.layers.dense(net, 3)'
    text = migrated('"key": tf.metrics.mean_absolute_error(labels, logits)', embedded)
    assert "metrics=[" not in text and "self.key.update_state(" in method(text, "compute_metrics")


def test_curves_of_tensorflow_1() -> None:
    metric = '"key": tf.metrics.auc(labels, tf.sigmoid(logits))'
    text = migrated(metric, exact=True)
    assert "self.key = RiemannAUC(name=" in text and "metrics=[" not in text
    for exact, expected in ((False, 1), (True, 0)):
        remarks = run(source(metric), exact=exact)[PATH].remaining
        assert len([d for d in remarks if "AUC of Keras is 0" in d.message]) == expected


def test_some_of_several_metrics() -> None:
    text = migrated('"rmse": tf.metrics.root_mean_squared_error(labels, logits), "clicks": tf.metrics.mean(labels)')
    assert 'metrics=[tf.keras.metrics.RootMeanSquaredError(name="rmse")]' in text
    assert method(text, "compute_metrics").split("\n")[1:-1] == [
        "    super().compute_metrics(x, y, y_pred, sample_weight)",
        "    self.clicks.update_state(y)",
        "    return self.get_metrics_result()",
    ]


def test_metrics_that_are_read_stay_attributes() -> None:
    body = f'{LOGITS}\nrmse = tf.metrics.root_mean_squared_error(labels, logits)\ntf.summary.scalar("rmse", rmse[1])'
    end = f"""
        loss = tf.losses.mean_squared_error(labels, logits)
        {TRAIN_OP}
        return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op, eval_metric_ops={{"rmse": rmse}})
    """
    text = migrate(model_fn(body, end=end))
    assert "metrics=[" not in text and "self.rmse" in text


BATCHES = ((0, 5), (5, 7))
RANDOM = np.random.default_rng(3)
OUTPUT = RANDOM.normal(size=(7, 3)).astype(np.float32)
CLASSES = RANDOM.integers(0, 3, size=7)
CLICKS = RANDOM.integers(0, 2, size=(7, 3))


def tensorflow_1(make: Any, labels: Any, output: Any) -> float:
    """What a metric of TensorFlow 1 says of two batches of unequal size."""
    with tf.Graph().as_default(), v1.Session() as session:
        given, predicted = v1.placeholder(labels.dtype), v1.placeholder(tf.float32)
        value, update = make(given, predicted)
        session.run(v1.local_variables_initializer())
        for start, end in BATCHES:
            session.run(update, {given: labels[start:end], predicted: output[start:end]})
        return float(session.run(value))


def keras(metric: Any, labels: Any, output: Any) -> float:
    """What a compiled model says of the same batches."""
    model = tf.keras.Sequential([tf.keras.layers.Activation("linear")])
    model.compile("sgd", loss="mse", metrics=[metric])
    data = tf.data.Dataset.from_tensor_slices((output, labels)).batch(5)
    return float(model.evaluate(data, verbose=0, return_dict=True)["key"])


@pytest.mark.parametrize("flat", [False, True], ids=["n, 1", "n"])
def test_classes(flat: bool) -> None:
    old = tensorflow_1(lambda y, p: v1.metrics.accuracy(y, tf.argmax(p, 1)), CLASSES, OUTPUT)
    labels = CLASSES if flat else CLASSES[:, None]
    metric = tf.keras.metrics.SparseCategoricalAccuracy(name="key")
    model = tf.keras.Sequential([tf.keras.layers.Activation("linear")])
    model.compile("sgd", loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=[metric])
    data = tf.data.Dataset.from_tensor_slices((OUTPUT, labels)).batch(5)
    assert model.evaluate(data, verbose=0, return_dict=True)["key"] == pytest.approx(old, rel=1e-6)


@pytest.mark.parametrize("k", [1, 2, 3])
def test_the_best_classes(k: int) -> None:
    old = tensorflow_1(lambda y, p: v1.metrics.mean(v1.nn.in_top_k(p, y, k)), CLASSES, OUTPUT)
    metric = tf.keras.metrics.SparseTopKCategoricalAccuracy(k=k, name="key")
    assert keras(metric, CLASSES, OUTPUT) == pytest.approx(old, rel=1e-6)


@pytest.mark.parametrize("columns", [1, 3])
def test_clicks(columns: int) -> None:
    labels, output = CLICKS[:, :columns], OUTPUT[:, :columns]
    old = tensorflow_1(lambda y, p: v1.metrics.accuracy(y, tf.round(tf.sigmoid(p))), labels, output)
    assert keras(tf.keras.metrics.BinaryAccuracy(threshold=0.0, name="key"), labels, output) == pytest.approx(old)


@pytest.mark.parametrize("flat", [False, True], ids=["n, 1", "n"])
def test_errors(flat: bool) -> None:
    labels, output = (CLICKS[:, 0], OUTPUT[:, 0]) if flat else (CLICKS[:, :1], OUTPUT[:, :1])
    old = tensorflow_1(v1.metrics.root_mean_squared_error, labels.astype(np.float32), output)
    assert keras(tf.keras.metrics.RootMeanSquaredError(name="key"), labels, output) == pytest.approx(old, rel=1e-6)


@pytest.mark.parametrize("columns", [1, 3])
@pytest.mark.parametrize("name", ["precision", "recall"])
def test_positives(name: str, columns: int) -> None:
    labels, output = CLICKS[:, :columns], OUTPUT[:, :columns]
    old = tensorflow_1(lambda y, p: getattr(v1.metrics, name)(y, tf.cast(p > 0, tf.int64)), labels, output)
    metric = {"precision": tf.keras.metrics.Precision, "recall": tf.keras.metrics.Recall}[name]
    assert keras(metric(thresholds=0.0, name="key"), labels, output) == pytest.approx(old, rel=1e-6)


@pytest.mark.parametrize("columns", [1, 3])
def test_losses_of_clicks(columns: int) -> None:
    def make(y: Any, p: Any) -> Any:
        return v1.metrics.mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=tf.cast(y, tf.float32), logits=p))

    labels, output = CLICKS[:, :columns], OUTPUT[:, :columns]
    old = tensorflow_1(make, labels, output)
    metric = tf.keras.metrics.BinaryCrossentropy(from_logits=True, name="key")
    assert keras(metric, labels, output) == pytest.approx(old, rel=1e-6)


ROUNDED = "tf.metrics.accuracy(labels, tf.round(tf.sigmoid(logits)))"


@pytest.mark.parametrize(
    ("before", "compiled"),
    [
        ('deep = tf.layers.dense(features["x"], 1)\nlogits = features["wide"] + 2.0 * deep', True),
        ('logits = tf.layers.dense(features["x"], 1) + features["wide"]', True),
        ('deep = tf.layers.dense(features["x"], 1)\nlogits = features["wide"] + tf.squeeze(deep, 1)', False),
        ('deep = tf.layers.dense(features["x"], 1)\nlogits = tf.reduce_sum(deep, 1)', False),
    ],
)
def test_sums_have_as_many_axes_as_the_part_that_has_the_most(before: str, compiled: bool) -> None:
    assert ("BinaryAccuracy(threshold=0.0" in migrated(f'"key": {ROUNDED}', before)) is compiled


@pytest.mark.parametrize(("shape", "compiled"), [("[-1, 4]", False), ("[-1, 2 * 2]", True), ("[-1, 2, 2]", True)])
def test_labels_that_may_be_those_of_a_sequence(shape: str, compiled: bool) -> None:
    """What makes one axis of all labels may be needed, where rows of the output are steps of a sequence."""
    before = f'logits = tf.layers.dense(tf.reshape(features["x"], {shape}), 3)'
    accuracy = '"key": tf.metrics.accuracy(tf.reshape(labels, [-1]), tf.argmax(logits, 1))'
    assert ("SparseCategoricalAccuracy" in migrated(accuracy, before)) is compiled

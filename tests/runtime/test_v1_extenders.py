"""Metrics and features that are added to a canned model are those of the Estimator."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from migrator.runtime.canned.canned import linear_classifier, linear_regressor
from migrator.runtime.exports.exporting import export_saved_model
from migrator.runtime.exports.serving import build_parsing_serving_input_receiver_fn
from migrator.runtime.graph_contrib.v1_extenders import add_metrics, forward_features
from migrator.runtime.optimizers.regularized_optimizers import FtrlOptimizer
from migrator.runtime.training.config import RunConfig
from migrator.runtime.training.prediction import predict
from migrator.runtime.training.training import evaluate, train

pytestmark = pytest.mark.skipif(not hasattr(tf, "estimator"), reason="TensorFlow without Estimator")
v1, fc = tf.compat.v1, tf.feature_column
RANDOM = np.random.RandomState(3)
FEATURES = {"x": RANDOM.randn(70).astype("float32"), "key": np.array([f"row{i}" for i in range(70)])}
LABELS = RANDOM.randint(0, 2, 70)


def input_fn() -> tf.data.Dataset:
    return tf.data.Dataset.from_tensor_slices((dict(FEATURES), LABELS)).batch(16)


def metric_fn(labels: Any, predictions: Any, features: Any) -> dict[str, Any]:
    weights = tf.cast(features["x"] > 0, tf.float32)[:, tf.newaxis]
    return {
        "rmse": v1.metrics.root_mean_squared_error(tf.cast(labels[:, tf.newaxis], tf.float32), predictions["logistic"]),
        "auc": v1.metrics.auc(labels[:, tf.newaxis], predictions["logistic"], weights, num_thresholds=50),
        "classes": v1.metrics.mean_per_class_accuracy(labels, predictions["class_ids"][:, 0], 2),
    }


def test_added_metrics(tmp_path: Path) -> None:
    columns = [fc.numeric_column("x")]
    old = tf.estimator.add_metrics(v1.estimator.LinearClassifier(columns, str(tmp_path / "old")), metric_fn)
    old = tf.estimator.add_metrics(old, lambda features: {"mean_x": v1.metrics.mean(features["x"])})
    expected = []  # of the old one first, as its graphs leave Keras in another state
    for steps in (None, 2, None):
        old.train(input_fn, steps=2)
        expected.append(old.evaluate(input_fn, steps=steps))
    new = linear_classifier(columns, FtrlOptimizer(0.2), "sum", config=RunConfig(str(tmp_path / "new")))
    new = add_metrics(add_metrics(new, metric_fn), lambda features: {"mean_x": v1.metrics.mean(features["x"])})
    for steps, metrics in zip((None, 2, None), expected):
        train(new, input_fn, steps=2)
        assert {"mean_x", "rmse", "accuracy"} < set(metrics)
        assert evaluate(new, input_fn, steps=steps) == pytest.approx(metrics, rel=1e-5, abs=1e-7)


def test_results_that_are_no_numbers() -> None:
    model = add_metrics(
        linear_regressor([fc.numeric_column("x")], FtrlOptimizer(0.2), "sum"),
        lambda labels: {"both": v1.metrics.mean_tensor(tf.stack([labels[0], labels[1]]))},
    )
    results = evaluate(model, lambda: tf.data.Dataset.from_tensors((FEATURES, LABELS.astype("float32"))))
    np.testing.assert_allclose(results["both"], LABELS[:2])


@pytest.mark.parametrize("keys", ["key", ["key", "x"], None])
def test_forwarded_features(keys: Any, tmp_path: Path) -> None:
    model = linear_regressor([fc.numeric_column("x")], FtrlOptimizer(0.2), "sum", model_dir=str(tmp_path / "new"))
    model = forward_features(model, keys)
    train(model, input_fn, steps=4)
    rows = list(predict(model, input_fn))
    added = {"key"} if keys == "key" else {"key", "x"}
    assert set(rows[0]) == {"predictions"} | added
    assert [row["key"] for row in rows] == [key.encode() for key in FEATURES["key"]]
    spec = {"x": tf.io.FixedLenFeature([], tf.float32), "key": tf.io.FixedLenFeature([], tf.string)}
    path = export_saved_model(model, str(tmp_path / "export"), build_parsing_serving_input_receiver_fn(spec))
    signatures = tf.saved_model.load(path.decode()).signatures
    assert set(signatures["predict"].structured_outputs) == {"predictions"} | added
    assert set(signatures["regression"].structured_outputs) == {"outputs"}

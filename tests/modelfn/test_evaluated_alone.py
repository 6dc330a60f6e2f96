"""Metrics that only evaluations can compute: of features that a training is not given, of groups of rows."""

from __future__ import annotations

import pytest
from modelfn.programs import method, migrate, model_fn

BODY = """
logits = tf.layers.dense(features["x"], 1)
if mode == tf.estimator.ModeKeys.PREDICT:
    return tf.estimator.EstimatorSpec(mode, predictions={"score": logits})
loss = tf.losses.mean_squared_error(labels, logits)
BEFORE
if mode == tf.estimator.ModeKeys.EVAL:
    weights = WEIGHTS
    return tf.estimator.EstimatorSpec(mode, loss=loss, eval_metric_ops={"m": tf.metrics.mean(logits, weights)})
train_op = tf.train.AdamOptimizer().minimize(loss, tf.train.get_global_step())
return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)
"""
USE = """
estimator = tf.estimator.Estimator(model_fn, params={})
estimator.train(lambda: tf.data.Dataset.from_tensor_slices(load()).batch(2))
estimator.evaluate(lambda: tf.data.Dataset.from_tensor_slices(load()).batch(2))
"""


def migrated(weights: str, before: str = "") -> str:
    return migrate(model_fn(BODY.replace("WEIGHTS", weights).replace("BEFORE", before), end="", after=USE))


def test_features_of_evaluations_alone() -> None:
    metrics = method(migrated('features["weight"]'), "compute_metrics")
    assert (
        '    if "weight" not in x:\n'
        "        return super().compute_metrics(x, y, y_pred, sample_weight)\n"
        '    weights = x["weight"]\n' in metrics
    )


def test_several_features_of_evaluations_alone() -> None:
    metrics = method(migrated('features["a"] * features["b"]'), "compute_metrics")
    assert 'if not {"a", "b"} <= x.keys():' in metrics


@pytest.mark.parametrize(
    ("weights", "before"),
    [('features["x"][:, :1]', ""), ('features["w"]', 'tf.summary.scalar("w", tf.reduce_sum(features["w"]))')],
)
def test_features_of_training_need_no_test(weights: str, before: str) -> None:
    assert "not in x" not in method(migrated(weights, before), "compute_metrics")


@pytest.mark.parametrize("shape", ["[-1, 5]", "(-1, params['group'])", "shape=[-1, 5]"])
def test_groups_are_of_evaluations_alone(shape: str) -> None:
    text = migrated(f"tf.reshape(logits, {shape})")
    step = method(text, "train_step")
    assert step.endswith('    return {"loss": self.loss_metric.result()}\n') and "compute_metrics" not in step
    assert "[-1, 5]" in method(text, "compute_metrics") or "group" in method(text, "compute_metrics")
    assert "loss=" not in text[text.index("model.compile(") :]


@pytest.mark.parametrize(
    ("weights", "before"),
    [
        ("tf.reshape(logits, [-1])", ""),
        ("tf.reshape(logits, tf.shape(labels))", ""),
        ("rows", "rows = tf.reshape(logits, [-1, 5])"),
    ],
)
def test_other_reshapes_are_of_training_as_well(weights: str, before: str) -> None:
    assert "def train_step" not in migrated(weights, before)

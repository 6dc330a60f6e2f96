"""Metrics of terms of the loss: `compute_loss` updates them, so that no term is computed twice."""

from __future__ import annotations

import pytest
from modelfn.programs import method, migrate

PROGRAM = """\
import tensorflow as tf


def model_fn(features, labels, mode):
    logits = tf.layers.dense(features["x"], 1)
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions={"p": tf.sigmoid(logits)})
    BODY
    if mode == tf.estimator.ModeKeys.EVAL:
        return tf.estimator.EstimatorSpec(mode, loss=loss, eval_metric_ops=METRICS)
    train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss, tf.train.get_or_create_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def input_fn():
    return tf.data.Dataset.from_tensor_slices(({"x": [[1.0]] * 8}, [[1.0]] * 8)).batch(2)


estimator = tf.estimator.Estimator(model_fn, "model")
estimator.train(input_fn)
print(estimator.evaluate(input_fn))
"""
BODY = """\
    entropy = tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits)
    weights = tf.exp(features["x"])
    loss = tf.reduce_mean(entropy * weights)
"""
ENTROPY = '"entropy": tf.metrics.mean(entropy, weights=weights)'
ERROR = '"error": tf.metrics.mean_absolute_error(labels, tf.sigmoid(logits))'


def migrated(metrics: str, body: str = BODY) -> str:
    return migrate(PROGRAM.replace("    BODY\n", body).replace("METRICS", f"{{{metrics}}}"))


def test_a_metric_of_a_term_is_updated_with_the_loss() -> None:
    text = migrated(ENTROPY)
    loss = method(text, "compute_loss")
    assert "self.entropy.update_state(entropy, sample_weight=weights)\n    return loss" in loss
    assert "compute_metrics" not in text and text.count("cross_entropy") == 1
    assert 'self.entropy = tf.keras.metrics.Mean(name="entropy")' in text


def test_those_beside_it_go_along() -> None:
    text = migrated(f"{ENTROPY}, {ERROR}")
    assert "self.error.update_state(tf.abs(" in method(text, "compute_loss") and "def compute_metrics" not in text


def test_one_that_compile_takes_stays_there() -> None:
    text = migrated(f'{ENTROPY}, "auc": tf.metrics.auc(labels, tf.sigmoid(logits))')
    assert 'metrics=[tf.keras.metrics.AUC(from_logits=True, name="auc")]' in text
    assert "self.entropy.update_state(" in method(text, "compute_loss") and "def compute_metrics" not in text


def test_comments_of_the_metric_stay() -> None:
    program = PROGRAM.replace(
        "    BODY\n", BODY + "    # by how much it is wrong\n    metric = tf.metrics.mean(entropy, weights)\n"
    )
    loss = method(migrate(program.replace("METRICS", '{"entropy": metric}')), "compute_loss")
    assert "# by how much it is wrong\n    self.entropy.update_state(entropy, sample_weight=weights)\n" in loss


def test_what_depends_on_the_mode_is_computed_for_each() -> None:
    switch = "loss = 0.5 if mode == tf.estimator.ModeKeys.TRAIN else 1.0\n    loss *= "
    text = migrated(ENTROPY, BODY.replace("loss = ", switch))
    assert "self.entropy.update_state(entropy, sample_weight=weights)" in method(text, "compute_loss")
    assert "self.compute_loss(x, y, y_pred, sample_weight, training=False)" in text


@pytest.mark.parametrize(
    ("metrics", "body"),
    [
        (ERROR, BODY),
        (ERROR.replace("tf.sigmoid(logits)", "p"), BODY.replace("entropy * weights", "entropy * p")),
        (ENTROPY, BODY + "    if mode == tf.estimator.ModeKeys.TRAIN:\n        loss *= 2.0\n"),
    ],
)
def test_others_stay_where_metrics_are_computed(metrics: str, body: str) -> None:
    text = migrated(metrics, "    p = tf.sigmoid(logits)\n" + body)
    assert "update_state(" in method(text, "compute_metrics")
    assert method(text, "compute_loss").count("update_state(") == 1


TWO_TASKS = """\
import tensorflow as tf


def model_fn(features, labels, mode):
    click = tf.layers.dense(features["x"], 1)
    buy = tf.layers.dense(features["x"], 1)
    loss = tf.reduce_mean(tf.square(LABELS - click) + tf.square(LABELS - buy) * tf.exp(click))
    train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss, tf.train.get_or_create_global_step())
    return tf.estimator.EstimatorSpec(mode, {"click": click, "buy": buy}, loss, train_op)


def input_fn():
    return tf.data.Dataset.from_tensor_slices(({"x": [[1.0]] * 8}, {"y": [[1.0]] * 8})).batch(2)


estimator = tf.estimator.Estimator(model_fn, "model")
estimator.train(input_fn)
"""


@pytest.mark.parametrize(("labels", "there"), [('labels["y"]', True), ("labels", False)])
def test_keras_does_not_pair_entries_of_labels_with_outputs(labels: str, there: bool) -> None:
    text = migrate(TWO_TASKS.replace("LABELS", labels))
    assert ("return self.get_metrics_result()  # else Keras pairs" in text) is there and "model.fit(" in text

"""Losses that are put together: per mode, from several parts, from the collections of the graph."""

from __future__ import annotations

import pytest
from modelfn.programs import LOSS, SPEC, TRAIN_OP, manual_reason, method, migrate, model_fn
from modelfn.symbolic import assert_same

TRAIN = "tf.estimator.ModeKeys.TRAIN"
DENSE = "predictions = tf.layers.dense(features['x'], 1)"
PREDICT = """
if mode == tf.estimator.ModeKeys.PREDICT:
    return tf.estimator.EstimatorSpec(mode, predictions=predictions)
"""
EVAL_SPEC = "return tf.estimator.EstimatorSpec(mode, loss={})"
TRAIN_SPEC = "return tf.estimator.EstimatorSpec(mode, loss={}, train_op=train_op)"

PER_MODE = {
    "a penalty in training": f"{LOSS}\nif mode == {TRAIN}:\n    loss += 0.1 * tf.square(predictions)\n{TRAIN_OP}\n{SPEC}",
    "one loss for each": f"""
if mode == {TRAIN}:
    loss = tf.reduce_mean(tf.square(labels - predictions))
else:
    loss = tf.reduce_mean(tf.abs(labels - predictions))
{TRAIN_OP}
{SPEC}
""",
    "a factor": f"{LOSS} * (2.0 if mode == {TRAIN} else 1.0)\n{TRAIN_OP}\n{SPEC}",
    "a factor by name": f"weight = 2.0 if mode == {TRAIN} else 1.0\n{LOSS} * weight\n{TRAIN_OP}\n{SPEC}",
    "a condition on more than the mode": f"""
{LOSS}
if mode == {TRAIN} and params["penalty"]:
    loss = loss + 0.1
{TRAIN_OP}
{SPEC}
""",
    "another loss in the spec": f"""
{LOSS}
if mode == tf.estimator.ModeKeys.EVAL:
    {EVAL_SPEC.format("loss")}
total = loss + 0.1 * tf.square(predictions)
train_op = tf.train.GradientDescentOptimizer(0.1).minimize(total, global_step=tf.train.get_global_step())
{TRAIN_SPEC.format("total")}
""",
    "the same loss in two branches": f"""
if mode == tf.estimator.ModeKeys.EVAL:
    {LOSS}
    {EVAL_SPEC.format("loss")}
if mode == {TRAIN}:
    {LOSS}
    {TRAIN_OP}
    {TRAIN_SPEC.format("loss")}
""",
    "labels changed in training": f"""
if mode == {TRAIN}:
    labels = labels * 0.9
{LOSS}
{TRAIN_OP}
{SPEC}
""",
}


@pytest.mark.parametrize("name", sorted(PER_MODE))
def test_a_loss_per_mode(name: str) -> None:
    assert_same(model_fn(DENSE, end=PREDICT + PER_MODE[name]), penalty=True)


def test_a_part_of_the_network_that_only_training_uses() -> None:
    body = f"""
    net = tf.layers.dense(features["x"], 3)
    predictions = tf.layers.dense(net, 1)
    if mode == {TRAIN}:
        auxiliary = tf.layers.dense(net, 1)
    """
    end = f"""
    {LOSS}
    if mode == {TRAIN}:
        loss += 0.4 * tf.reduce_mean(tf.square(labels - auxiliary))
    {TRAIN_OP}
    {SPEC}
    """
    text = assert_same(model_fn(body, end=end))
    assert "if training" not in method(text, "call")


def test_evaluation_tells_the_loss_its_mode() -> None:
    text = migrate(model_fn(DENSE, end=PREDICT + PER_MODE["a penalty in training"]))
    assert "sample_weight=None, training=True):" in method(text, "compute_loss")
    assert "if training:\n        loss +=" in method(text, "compute_loss")
    assert "self.compute_loss(x, y, y_pred, sample_weight, training=False)" in method(text, "test_step")


def test_one_loss_needs_no_test_step() -> None:
    text = migrate(model_fn(DENSE, end=PREDICT + PER_MODE["the same loss in two branches"]))
    assert "test_step" not in text and "training" not in method(text, "compute_loss")


def test_a_metric_of_the_loss_takes_that_of_evaluation() -> None:
    end = f"""
    {LOSS}
    if mode == {TRAIN}:
        loss += 0.1
    metrics = {{"mean": tf.metrics.mean(loss)}}
    {TRAIN_OP}
    return tf.estimator.EstimatorSpec(
        mode, predictions=predictions, loss=loss, train_op=train_op, eval_metric_ops=metrics)
    """
    text = assert_same(model_fn(DENSE, end=end))
    assert "0.1" not in method(text, "compute_metrics")


def test_a_loss_that_tells_evaluation_from_prediction_in_the_network() -> None:
    body = """
    x = features["x"]
    if mode == tf.estimator.ModeKeys.EVAL:
        x = x * 2.0  # HERE
    predictions = tf.layers.dense(x, 1)
    """
    assert "tells evaluation from prediction" in manual_reason(model_fn(body))

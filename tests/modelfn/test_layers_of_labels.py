"""Layers that see the labels: the loss applies them once more, where the forward pass has made their weights."""

from __future__ import annotations

import pytest
from modelfn.programs import SPEC, TRAIN_OP, manual_reason, method, migrate, model_fn

CRITIC = """
def critic(x, training=False):
    with tf.variable_scope("critic", reuse=tf.AUTO_REUSE):
        h = {hidden}
        return tf.layers.dense(h, 1, name="out")
"""
PLAIN = CRITIC.format(hidden='tf.layers.dense(x, 3, name="h")').replace(", training=False", "")
DROPPED = CRITIC.format(hidden="tf.layers.dropout(x, 0.1, training=training)")
IS_TRAINING = "training=mode == tf.estimator.ModeKeys.TRAIN"
MADE = 'predictions = tf.layers.dense(features["x"], 3, name="made")'


def program(loss: str, before: str = PLAIN, end: str = "") -> str:
    """A program with `loss`."""
    return model_fn(MADE, before=before, end=f"{loss}\n{TRAIN_OP}\n{end or SPEC}")


LOSS = "loss = tf.reduce_mean(critic(predictions{0})) - tf.reduce_mean(critic(labels{0}))"


@pytest.mark.parametrize("swapped", [False, True])
def test_the_loss_applies_them(swapped: bool) -> None:
    loss = "real = critic(labels)\nfake = critic(predictions)\nloss = tf.reduce_mean(fake) - tf.reduce_mean(real)"
    if swapped:
        loss = "\n".join([*loss.splitlines()[1::-1], loss.splitlines()[2]])
    text = migrate(program(loss))
    assert "fake = self.critic(predictions)" in method(text, "call", of="Model")
    assert "real = self.critic(y)" in method(text, "compute_loss")
    assert method(text, "__init__", of="Model").count("= Critic(") == 1


def test_they_are_told_whether_the_model_trains() -> None:
    loss = f"fake = critic(predictions, {IS_TRAINING})\nreal = critic(labels, {IS_TRAINING})\n"
    text = migrate(program(f"{loss}loss = tf.reduce_mean(fake) - tf.reduce_mean(real)", DROPPED))
    assert "real = self.critic(y, training=training)" in method(text, "compute_loss")
    assert "self.compute_loss(x, y, y_pred, sample_weight, training=False)" in method(text, "test_step")


@pytest.mark.parametrize(
    ("loss", "end"),
    [
        ("loss = tf.reduce_mean(critic(labels)) - tf.reduce_mean(predictions)", ""),
        ("loss = tf.reduce_mean(tf.layers.dense(labels, 3) - predictions)", ""),
        ("w = tf.get_variable('w', [3])\nloss = tf.reduce_mean(w * labels - tf.layers.dense(labels, 3))", ""),
        (
            "fake = critic(predictions)\nreal = critic(labels)\nloss = tf.reduce_mean(fake - real)",
            "return tf.estimator.EstimatorSpec(mode, predictions=predictions, loss=loss, train_op=train_op, "
            "eval_metric_ops={'real': tf.metrics.mean(real)})",
        ),
    ],
)
def test_others_are_left(loss: str, end: str) -> None:
    assert "applied to the labels" in manual_reason(program(loss, end=end))


def test_normalization_of_both_is_left() -> None:
    before = CRITIC.format(hidden="tf.layers.batch_normalization(x, training=training, name='n')")
    loss = f"fake = critic(predictions, {IS_TRAINING})\nreal = critic(labels, {IS_TRAINING})\n"
    updates = "with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):\n    " + TRAIN_OP
    source = model_fn(MADE, before=before, end=f"{loss}loss = tf.reduce_mean(fake - real)\n{updates}\n{SPEC}")
    assert "no certain order" in manual_reason(source)

"""Batch normalization that is called twice under `tf.cond`: one layer, active in training."""

from __future__ import annotations

import pytest
from modelfn.programs import manual_reason, method, migrate, model_fn

NORM = """
def norm(x, train_phase, scope):
    train = tf.contrib.layers.batch_norm(
        x, decay=0.9, scale=True, updates_collections=None, is_training=True, reuse=None, scope=scope)
    infer = tf.contrib.layers.batch_norm(
        x, decay=0.9, scale=True, updates_collections=None, is_training=False, reuse=True, scope=scope)
    return tf.cond(tf.cast(train_phase, tf.bool), lambda: train, lambda: infer)
"""
INLINE = """
def norm(x, train_phase, scope):
    return tf.cond(
        train_phase,
        lambda: tf.contrib.layers.batch_norm(x, updates_collections=None, is_training=True, scope=scope),
        lambda: tf.contrib.layers.batch_norm(x, updates_collections=None, is_training=False, scope=scope, reuse=True))
"""
LAYERS = """
def norm(x, train_phase, scope):
    train = tf.layers.batch_normalization(x, training=True, name=scope)
    infer = tf.layers.batch_normalization(x, training=False, name=scope, reuse=True)
    return tf.cond(train_phase, true_fn=lambda: train, false_fn=lambda: infer)
"""
BODY = """
x = norm(features["x"], mode == tf.estimator.ModeKeys.TRAIN, "bn_0")
predictions = tf.layers.dense(x, 1)
"""


@pytest.mark.parametrize(
    ("helper", "made"),
    [
        (NORM, "ContribBatchNorm(momentum=0.9, scale=True, name=scope)"),
        (INLINE, "ContribBatchNorm(name=scope)"),
        (LAYERS, "tf.keras.layers.BatchNormalization("),
    ],
)
def test_one_layer(helper: str, made: str) -> None:
    text = migrate(model_fn(BODY, before=helper))
    assert text.count(made) == 1
    assert "tf.cond" not in text and "training=training)" in method(text, "call")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("is_training=False, reuse=True", "is_training=False, reuse=None"),
        ("is_training=False", "is_training=True"),
        ("decay=0.9, scale=True, updates_collections=None, is_training=False", "decay=0.99, is_training=False"),
        ("lambda: train, lambda: infer", "lambda: infer, lambda: train"),
        ("lambda: train,", "lambda: train + 1,"),
    ],
)
def test_other_pairs_are_left_alone(old: str, new: str) -> None:
    assert old in NORM
    manual_reason(model_fn(BODY, before=NORM.replace(old, new)))

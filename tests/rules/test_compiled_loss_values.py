"""What `compile(loss=…)` computes is what the function of TensorFlow 1 did, whatever shape the labels come in."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow as tf

v1 = tf.compat.v1
RANDOM = np.random.default_rng(0)
FLAT = RANDOM.normal(size=7).astype(np.float32)
WIDE = RANDOM.normal(size=(7, 3)).astype(np.float32)
CLICKS = RANDOM.integers(0, 2, size=7)
CLASSES = RANDOM.integers(0, 3, size=7)
Keras = tf.keras.losses


def trained(loss: Any, labels: Any, output: Any) -> float:
    """The loss that a compiled model trains on."""
    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    model.compile("sgd", loss=loss)
    step = tf.function(lambda y, y_pred: model.compute_loss(y=y, y_pred=y_pred))
    return float(step(tf.constant(labels), tf.constant(output)))


@pytest.mark.parametrize("shape", [(7,), (7, 1)], ids=["n", "n, 1"])
@pytest.mark.parametrize("short", ["mse", "mae", "huber", "clicks"])
def test_labels_with_or_without_a_last_axis(short: str, shape: tuple[int, ...]) -> None:
    labels = CLICKS if short == "clicks" else FLAT[::-1]
    old, new = {
        "mse": (v1.losses.mean_squared_error, "mse"),
        "mae": (v1.losses.absolute_difference, "mae"),
        "huber": (lambda y, p: v1.losses.huber_loss(y, p, delta=0.5), Keras.Huber(delta=0.5)),
        "clicks": (v1.losses.sigmoid_cross_entropy, Keras.BinaryCrossentropy(from_logits=True)),
    }[short]
    output = FLAT.reshape(shape)
    expected = float(old(labels.reshape(shape), output))
    assert trained(new, labels.reshape(shape), output) == pytest.approx(expected, rel=1e-6)
    if shape == (7, 1):  # which the program gave to its labels by `expand_dims`
        assert trained(new, labels, output) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("smoothing", [0.0, 0.2])
def test_several_columns(smoothing: float) -> None:
    many = RANDOM.integers(0, 2, size=(7, 3)).astype(np.float32)
    expected = float(v1.losses.sigmoid_cross_entropy(many, WIDE, label_smoothing=smoothing))
    loss = Keras.BinaryCrossentropy(from_logits=True, label_smoothing=smoothing)
    assert trained(loss, many, WIDE) == pytest.approx(expected, rel=1e-6)
    rows = np.eye(3, dtype=np.float32)[CLASSES]
    expected = float(v1.losses.softmax_cross_entropy(rows, WIDE, label_smoothing=smoothing))
    loss = Keras.CategoricalCrossentropy(from_logits=True, label_smoothing=smoothing)
    assert trained(loss, rows, WIDE) == pytest.approx(expected, rel=1e-6)
    assert trained("mse", many, WIDE) == pytest.approx(float(v1.losses.mean_squared_error(many, WIDE)), rel=1e-6)


@pytest.mark.parametrize("shape", [(7,), (7, 1)], ids=["n", "n, 1"])
@pytest.mark.parametrize("kind", [np.int32, np.int64, np.float32])
def test_classes_by_number(shape: tuple[int, ...], kind: Any) -> None:
    expected = float(v1.losses.sparse_softmax_cross_entropy(CLASSES, WIDE))
    one_hot = float(v1.losses.softmax_cross_entropy(np.eye(3)[CLASSES], WIDE))
    loss = Keras.SparseCategoricalCrossentropy(from_logits=True)
    assert trained(loss, CLASSES.reshape(shape).astype(kind), WIDE) == pytest.approx(expected, rel=1e-6)
    assert one_hot == pytest.approx(expected, rel=1e-6)


def test_sequences_and_sums() -> None:
    output = RANDOM.normal(size=(4, 5, 3)).astype(np.float32)
    labels = RANDOM.integers(0, 3, size=(4, 5))
    loss = Keras.SparseCategoricalCrossentropy(from_logits=True)
    expected = float(v1.losses.sparse_softmax_cross_entropy(labels, output))
    assert trained(loss, labels, output) == pytest.approx(expected, rel=1e-6)
    expected = float(v1.losses.sparse_softmax_cross_entropy(CLASSES, WIDE, reduction=v1.losses.Reduction.SUM))
    loss = Keras.SparseCategoricalCrossentropy(from_logits=True, reduction="sum")
    assert trained(loss, CLASSES, WIDE) == pytest.approx(expected, rel=1e-6)

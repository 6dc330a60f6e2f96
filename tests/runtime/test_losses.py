"""The losses, and the expressions that replace ``tf.losses``, against TensorFlow 1's own in a graph."""

from __future__ import annotations

from typing import Any, Callable

import numpy as np
import pytest
import tensorflow as tf

from migrator.parity.probe.tf1.sequences import sequence_loss as old_loss
from migrator.runtime.losses_metrics.losses import (
    elementwise_log_loss,
    mean_by_nonzero_weights,
    mean_by_total_weight,
    mean_pairwise_squared_error,
    sequence_loss,
)

v1 = tf.compat.v1.losses
random = np.random.RandomState(0)


def elementwise_huber(labels: Any, predictions: Any, delta: float = 1.0) -> tf.Tensor:
    """As migrated programs write it: the mean over an axis of one element."""
    return tf.keras.losses.huber(tf.expand_dims(labels, -1), tf.expand_dims(predictions, -1), delta)


SHAPES = [(6,), (6, 1), (6, 3)]
LOGITS = {shape: random.randn(*shape).astype("float32") for shape in SHAPES}
VALUES = {shape: random.randn(*shape).astype("float32") for shape in SHAPES}
PROBABILITIES = {shape: random.uniform(0.0, 1.0, shape).astype("float32") for shape in SHAPES}
BINARY = {shape: random.randint(0, 2, shape) for shape in SHAPES}
PER_EXAMPLE = np.array([0.0, 1.0, 2.0, 0.0, 0.5, 3.0], "float32")


def weights_for(shape: tuple[int, ...]) -> list[Any]:
    """Every form of weights that TF1 accepts for losses of a shape; zeros among them."""
    per_example = PER_EXAMPLE.reshape(shape[:1] + (1,) * (len(shape) - 1))
    per_element = random.randint(0, 3, shape).astype("float32")
    return [1.0, 0.0, 2.5, per_example, per_element]


def run_v1(build: Callable[[], tf.Tensor]) -> np.ndarray:
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        return np.asarray(session.run(build()))


def check(actual: tf.Tensor, build: Callable[[], tf.Tensor]) -> None:
    np.testing.assert_allclose(actual.numpy(), run_v1(build), rtol=1e-6, atol=1e-7)


# For each loss of TF1: the losses of its elements in TF2, and examples of its labels and predictions.
ELEMENTWISE: dict[str, tuple[Any, Any, Any, Any]] = {
    "mean_squared_error": (
        lambda labels, predictions: tf.math.squared_difference(predictions, tf.cast(labels, tf.float32)),
        v1.mean_squared_error,
        BINARY,
        VALUES,
    ),
    "absolute_difference": (
        lambda labels, predictions: tf.abs(predictions - tf.cast(labels, tf.float32)),
        v1.absolute_difference,
        BINARY,
        VALUES,
    ),
    "hinge_loss": (
        lambda labels, logits: tf.nn.relu(1.0 - (2.0 * tf.cast(labels, tf.float32) - 1.0) * logits),
        v1.hinge_loss,
        BINARY,
        LOGITS,
    ),
    "huber_loss": (
        lambda labels, predictions: elementwise_huber(labels, predictions, delta=0.7),
        lambda y, p, w=1.0, **kwargs: v1.huber_loss(y, p, w, delta=0.7, **kwargs),
        VALUES,
        LOGITS,
    ),
    "log_loss": (elementwise_log_loss, v1.log_loss, BINARY, PROBABILITIES),
    "sigmoid_cross_entropy": (
        lambda labels, logits: tf.nn.sigmoid_cross_entropy_with_logits(tf.cast(labels, logits.dtype), logits),
        v1.sigmoid_cross_entropy,
        BINARY,
        LOGITS,
    ),
    "sigmoid_cross_entropy smoothed": (
        lambda labels, logits: tf.nn.sigmoid_cross_entropy_with_logits(
            tf.cast(labels, logits.dtype) * (1.0 - 0.1) + 0.5 * 0.1, logits
        ),
        lambda y, p, w=1.0, **kwargs: v1.sigmoid_cross_entropy(y, p, w, 0.1, **kwargs),
        BINARY,
        LOGITS,
    ),
}


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("name", ELEMENTWISE)
def test_elementwise_losses_and_reductions(name: str, shape: tuple[int, ...]) -> None:
    elementwise, reference, all_labels, all_predictions = ELEMENTWISE[name]
    labels, predictions = all_labels[shape], all_predictions[shape]
    losses = elementwise(labels, predictions)
    check(tf.reduce_mean(losses), lambda: reference(labels, predictions))
    for weights in weights_for(shape):
        replacements = {
            v1.Reduction.SUM_BY_NONZERO_WEIGHTS: mean_by_nonzero_weights(losses, weights),
            v1.Reduction.SUM_OVER_NONZERO_WEIGHTS: mean_by_nonzero_weights(losses, weights),
            v1.Reduction.MEAN: mean_by_total_weight(losses, weights),
            v1.Reduction.SUM: tf.reduce_sum(losses * weights),
            v1.Reduction.SUM_OVER_BATCH_SIZE: tf.reduce_mean(losses * weights),
            v1.Reduction.NONE: losses * weights,
        }
        with tf.Graph().as_default(), tf.compat.v1.Session() as session:
            expected = session.run({r: reference(labels, predictions, weights, reduction=r) for r in replacements})
        for reduction, replacement in replacements.items():
            np.testing.assert_allclose(replacement, expected[reduction], rtol=1e-6, atol=1e-7, err_msg=reduction)


@pytest.mark.parametrize(
    ("expression", "reference"),
    [
        (tf.keras.losses.mse, v1.mean_squared_error),
        (tf.keras.losses.mae, v1.absolute_difference),
        (lambda y, p: tf.keras.losses.huber(y, p, delta=0.7), lambda y, p: v1.huber_loss(y, p, delta=0.7)),
    ],
    ids=["mse", "mae", "huber"],
)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_keras_functions_are_exact_without_weights(expression: Any, reference: Any, shape: tuple[int, ...]) -> None:
    labels, predictions = VALUES[shape], LOGITS[shape]
    check(tf.reduce_mean(expression(labels, predictions)), lambda: reference(labels, predictions))
    integers = BINARY[shape]
    check(tf.reduce_mean(expression(integers, predictions)), lambda: reference(integers, predictions))


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_softmax_cross_entropy(smoothing: float) -> None:
    logits, labels = LOGITS[6, 3], np.eye(3, dtype="int32")[[0, 2, 1, 1, 0, 2]]
    losses = tf.keras.losses.categorical_crossentropy(
        tf.cast(labels, tf.float32), logits, from_logits=True, label_smoothing=smoothing
    )
    check(tf.reduce_mean(losses), lambda: v1.softmax_cross_entropy(labels, logits, label_smoothing=smoothing))
    for weights in weights_for((6,)):
        check(
            mean_by_nonzero_weights(losses, weights),
            lambda w=weights: v1.softmax_cross_entropy(labels, logits, w, label_smoothing=smoothing),
        )
    plain = tf.nn.softmax_cross_entropy_with_logits(labels=tf.cast(labels, logits.dtype), logits=logits)
    check(tf.reduce_mean(plain), lambda: v1.softmax_cross_entropy(labels, logits))


@pytest.mark.parametrize("dtype", ["int32", "int64"])
@pytest.mark.parametrize("label_shape", [(6,), (6, 1)], ids=str)
def test_sparse_softmax_cross_entropy(label_shape: tuple[int, ...], dtype: str) -> None:
    logits, labels = LOGITS[6, 3], np.array([0, 2, 1, 1, 0, 2], dtype).reshape(label_shape)
    losses = tf.keras.losses.sparse_categorical_crossentropy(labels, logits, from_logits=True)
    check(tf.reduce_mean(losses), lambda: v1.sparse_softmax_cross_entropy(labels, logits))
    for weights in [*weights_for((6,)), PER_EXAMPLE[:, np.newaxis]]:
        check(
            mean_by_nonzero_weights(losses, weights),
            lambda w=weights: v1.sparse_softmax_cross_entropy(labels, logits, w),
        )
    squeezed = tf.reshape(labels, [6])
    plain = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=squeezed, logits=logits)
    check(tf.reduce_mean(plain), lambda: v1.sparse_softmax_cross_entropy(labels, logits))


def test_sparse_softmax_cross_entropy_of_sequences() -> None:
    logits, labels = random.randn(2, 5, 3).astype("float32"), random.randint(0, 3, (2, 5))
    weights = np.array([[1, 1, 1, 0, 0], [1, 1, 1, 1, 0]], "float32")
    losses = tf.keras.losses.sparse_categorical_crossentropy(labels, logits, from_logits=True)
    check(mean_by_nonzero_weights(losses, weights), lambda: v1.sparse_softmax_cross_entropy(labels, logits, weights))


@pytest.mark.parametrize("axis", [1, -1])
def test_cosine_distance(axis: int) -> None:
    labels, predictions = VALUES[6, 3], LOGITS[6, 3]
    losses = 1.0 - tf.reduce_sum(labels * predictions, axis=axis, keepdims=True)
    check(tf.reduce_mean(losses), lambda: v1.cosine_distance(labels, predictions, axis=axis))
    for weights in weights_for((6, 1)):
        check(
            mean_by_nonzero_weights(losses, weights),
            lambda w=weights: v1.cosine_distance(labels, predictions, axis=axis, weights=w),
        )


@pytest.mark.parametrize("shape", [(6, 1), (6, 3), (2, 3, 4)], ids=str)
def test_mean_pairwise_squared_error(shape: tuple[int, ...]) -> None:
    labels, predictions = random.randn(*shape).astype("float32"), random.randn(*shape).astype("float32")
    per_example = PER_EXAMPLE[: shape[0]].reshape(shape[:1] + (1,) * (len(shape) - 1))
    for weights in (1.0, 0.0, 2.5, per_example):
        np.testing.assert_allclose(
            mean_pairwise_squared_error(labels, tf.constant(predictions), weights),
            run_v1(lambda w=weights: v1.mean_pairwise_squared_error(labels, predictions, w)),
            rtol=1e-5,
            atol=1e-6,
        )


def test_gradient_of_the_weighted_mean_is_that_of_tf1() -> None:
    labels, logits = BINARY[6, 3], LOGITS[6, 3]
    weights = PER_EXAMPLE[:, np.newaxis]

    def build() -> tf.Tensor:
        predictions = tf.constant(logits)
        return tf.gradients(v1.huber_loss(labels, predictions, weights), predictions)[0]

    predictions = tf.constant(logits)
    with tf.GradientTape() as tape:
        tape.watch(predictions)
        loss = mean_by_nonzero_weights(elementwise_huber(labels, predictions), weights)
    check(tape.gradient(loss, predictions), build)


@pytest.mark.parametrize("flags", range(16))
def test_sequence_loss(flags: int) -> None:
    """Over all four flags, against TensorFlow 1.15's statements; one sequence has no weight at all."""
    names = ("average_across_timesteps", "average_across_batch", "sum_over_timesteps", "sum_over_batch")
    said = {name: bool(flags >> place & 1) for place, name in enumerate(names)}
    logits = random.randn(3, 4, 5).astype("float32")
    targets = random.randint(0, 5, [3, 4])
    weights = np.array([[1.0, 0.5, 0.0, 2.0], [0.0] * 4, [1.0, 1.0, 0.0, 0.0]], "float32")
    check(sequence_loss(logits, targets, weights, **said), lambda: old_loss(logits, targets, weights, **said))

"""The normalizations of contrib against `tf_slim` and, for batches, the kernels that contrib calls."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from migrator.runtime.layers.normalization import ContribBatchNorm, ContribLayerNorm

slim = pytest.importorskip("tf_slim")
v1 = tf.compat.v1
random = np.random.RandomState(0)
SHAPES = {2: (6, 4), 3: (5, 3, 4), 4: (3, 2, 2, 4)}


def run_v1(build: Any, steps: int = 1) -> tuple[list[Any], dict[str, Any]]:
    """What `build` gives in each step, and the variables afterwards, by the last part of their names."""
    with tf.Graph().as_default(), v1.Session() as session:
        result = build()
        session.run(v1.global_variables_initializer())
        found = [session.run([result, v1.get_collection(v1.GraphKeys.UPDATE_OPS)])[0] for _ in range(steps)]
        return found, {v.op.name.split("/")[-1]: session.run(v) for v in v1.global_variables()}


def fused_reference(inputs: np.ndarray, momentum: float, steps: int) -> tuple[Any, Any, Any]:
    """What contrib does for matrices and images: the fused kernel, then moving averages of what it gives."""
    shape = inputs.shape if inputs.ndim == 4 else (len(inputs), 1, 1, inputs.shape[1])
    mean, variance = np.zeros(4, "float32"), np.ones(4, "float32")
    for _ in range(steps):
        result, batch_mean, batch_variance, *_ = tf.raw_ops.FusedBatchNormV3(
            x=inputs.reshape(shape), scale=np.ones(4, "float32"), offset=np.zeros(4, "float32"),
            mean=np.zeros(0, "float32"), variance=np.zeros(0, "float32"), epsilon=0.001,
        )  # fmt: skip
        mean += (batch_mean.numpy() - mean) * np.float32(1 - momentum)
        variance += (batch_variance.numpy() - variance) * np.float32(1 - momentum)
    return result.numpy().reshape(inputs.shape), mean, variance


@pytest.mark.parametrize("rank", [2, 4])
def test_batch_norm_of_matrices_and_images(rank: int) -> None:
    inputs = random.randn(*SHAPES[rank]).astype("float32")
    result, mean, variance = fused_reference(inputs, 0.9, 5)
    layer = ContribBatchNorm(momentum=0.9, activation=tf.nn.relu)
    for _ in range(5):
        found = layer(tf.constant(inputs), training=True)
    np.testing.assert_allclose(found, np.maximum(result, 0), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(layer.moving_mean, mean, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(layer.moving_variance, variance, rtol=1e-5, atol=1e-6)
    assert [w.name.split(":")[0].split("/")[-1] for w in layer.weights] == ["beta", "moving_mean", "moving_variance"]
    assert layer(tf.constant(inputs[:2]), training=False).shape == inputs[:2].shape


def test_batch_norm_that_is_not_fused() -> None:
    inputs = random.randn(*SHAPES[3]).astype("float32")
    old, variables = run_v1(
        lambda: v1.layers.batch_normalization(tf.constant(inputs), momentum=0.9, scale=False, training=True), 5
    )
    layer = ContribBatchNorm(momentum=0.9)
    for expected in old:
        np.testing.assert_allclose(layer(tf.constant(inputs), training=True), expected, rtol=1e-5, atol=1e-6)
    for name in ("moving_mean", "moving_variance"):
        np.testing.assert_allclose(getattr(layer, name), variables[name], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(("rank", "begin"), [(2, 1), (3, 1), (3, -1), (3, 2), (4, 1), (4, 3)])
def test_layer_norm(rank: int, begin: int) -> None:
    inputs = random.randn(*SHAPES[rank]).astype("float32")
    (expected,), variables = run_v1(lambda: slim.layers.layer_norm(tf.constant(inputs), begin_norm_axis=begin))
    layer = ContribLayerNorm(begin_norm_axis=begin)
    np.testing.assert_allclose(layer(tf.constant(inputs)), expected, rtol=1e-5, atol=1e-6)
    assert {name: v.shape for name, v in variables.items()} == {
        w.name.split(":")[0].split("/")[-1]: tuple(w.shape) for w in layer.weights
    }


@pytest.mark.parametrize("rank", [2, 3, 4])
def test_layer_norm_of_the_last_axis_is_that_of_keras(rank: int) -> None:
    inputs = 10 * random.randn(*SHAPES[rank]).astype("float32")
    (expected,), _ = run_v1(lambda: slim.layers.layer_norm(tf.constant(inputs), begin_norm_axis=-1))
    layer = tf.keras.layers.LayerNormalization(epsilon=1e-12)
    np.testing.assert_allclose(layer(tf.constant(inputs)), expected, rtol=1e-5, atol=1e-6)


def test_layer_norm_without_parameters() -> None:
    layer = ContribLayerNorm(center=False, scale=False, activation=tf.nn.relu)
    assert not layer(tf.constant(random.randn(3, 4).astype("float32"))).numpy().min() < 0
    assert not layer.weights

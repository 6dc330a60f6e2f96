"""Layers of `tf.contrib` for graphs of TensorFlow 1."""

from __future__ import annotations

from typing import Any, Callable

import tensorflow as tf


def layer_norm(
    inputs: tf.Tensor,
    center: bool = True,
    scale: bool = True,
    activation_fn: Callable[[tf.Tensor], tf.Tensor] | None = None,
    reuse: Any = None,
    begin_norm_axis: int = 1,
    begin_params_axis: int = -1,
    scope: Any = None,
) -> tf.Tensor:
    """Normalizes over the axes from `begin_norm_axis` on, as `tf.contrib.layers.layer_norm` did.

    `inputs` have a known shape from `begin_params_axis` on: the shape of `beta` and `gamma`.
    """
    with tf.compat.v1.variable_scope(scope, "LayerNorm", [inputs], reuse=reuse):
        rank = inputs.shape.rank
        begin = begin_norm_axis if begin_norm_axis >= 0 else rank + begin_norm_axis
        shape, dtype = inputs.shape[begin_params_axis:], inputs.dtype
        beta = gamma = None
        if center:
            beta = tf.compat.v1.get_variable("beta", shape, dtype, tf.compat.v1.zeros_initializer())
        if scale:
            gamma = tf.compat.v1.get_variable("gamma", shape, dtype, tf.compat.v1.ones_initializer())
        mean, variance = tf.nn.moments(inputs, list(range(begin, rank)), keepdims=True)
        epsilon = 1e-3 if dtype == tf.float16 else 1e-12
        outputs = tf.nn.batch_normalization(inputs, mean, variance, beta, gamma, epsilon)
        outputs.set_shape(inputs.shape)
        return outputs if activation_fn is None else activation_fn(outputs)

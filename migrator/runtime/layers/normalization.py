"""Normalizations of ``tf.contrib.layers`` that Keras computes otherwise."""

from __future__ import annotations

from typing import Any

import tensorflow as tf


class ContribBatchNorm(tf.keras.layers.BatchNormalization):
    """``tf.contrib.layers.batch_norm``: Keras's, with the fused kernel for matrices as well, which stores ``n / (n - 1)`` times
    the variance of a batch."""

    def __init__(self, momentum: float = 0.999, scale: bool = False, activation: Any = None, **others: Any) -> None:
        super().__init__(momentum=momentum, scale=scale, **others)
        self.activation = tf.keras.activations.get(activation)

    def build(self, input_shape: Any) -> None:
        self.matrix = len(input_shape) == 2
        super().build([input_shape[0], 1, 1, input_shape[1]] if self.matrix else input_shape)
        self.input_spec = None

    def call(self, inputs: Any, training: Any = None) -> Any:
        images = inputs[:, tf.newaxis, tf.newaxis, :] if self.matrix else inputs
        before = tf.identity(self.moving_variance)
        outputs = tf.reshape(super().call(images, training=training), tf.shape(inputs))
        if training and self.trainable and images.shape.rank == 4 and hasattr(self.moving_variance, "path"):
            number = tf.cast(tf.size(inputs) // tf.size(before), before.dtype)  # Keras 3 has no fused kernel
            stored = self.moving_variance - before * self.momentum
            self.moving_variance.assign_add(stored / tf.maximum(number - 1, 1))
        return self.activation(outputs)


class ContribLayerNorm(tf.keras.layers.Layer):
    """``tf.contrib.layers.layer_norm``: mean and variance over all axes from `begin_norm_axis` on; ``gamma`` and ``beta`` belong
    to the last axis.

    Args:
        begin_norm_axis: first axis of the moments, 1 in contrib.
        center: whether there is an offset ``beta``.
        scale: whether there is a factor ``gamma``.
        activation: applied to the result.
    """

    def __init__(
        self, begin_norm_axis: int = 1, center: bool = True, scale: bool = True, activation: Any = None, **others: Any
    ) -> None:
        super().__init__(**others)
        self.begin_norm_axis, self.center, self.scale = begin_norm_axis, center, scale
        self.activation = tf.keras.activations.get(activation)

    def build(self, input_shape: Any) -> None:
        shape = (input_shape[-1],)
        self.beta = self.add_weight(name="beta", shape=shape, initializer="zeros") if self.center else None
        self.gamma = self.add_weight(name="gamma", shape=shape, initializer="ones") if self.scale else None
        self.built = True

    def call(self, inputs: Any) -> Any:
        rank = inputs.shape.rank
        axes = list(range(self.begin_norm_axis % rank, rank))
        mean, variance = tf.nn.moments(inputs, axes, keepdims=True)
        epsilon = 1e-3 if inputs.dtype == tf.float16 else 1e-12
        return self.activation(tf.nn.batch_normalization(inputs, mean, variance, self.beta, self.gamma, epsilon))

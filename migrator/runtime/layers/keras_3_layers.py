"""Layers that Keras 3 computes otherwise than Keras 2 and TensorFlow 1."""

from __future__ import annotations

from typing import Any

import tensorflow as tf


def compute_as_keras_2(model: tf.keras.Model) -> None:
    """Lets the layers of a model compute in Keras 3 what they compute in Keras 2; those that it has so far.

    Batch normalization of inputs of rank 4 and 5 stores the variance that the fused kernel of TensorFlow gives, which
    is that of `n` values times ``n / (n - 1)``; `hard_sigmoid` is ``clip(0.2 x + 0.5)``, not ``clip(x / 6 + 0.5)``.
    """
    for layer in model._flatten_layers():
        for name in {"activation", "recurrent_activation"} & set(vars(layer)):
            if getattr(layer, name) is tf.keras.activations.hard_sigmoid:
                setattr(layer, name, hard_sigmoid)
        own = "call" in vars(layer) or hasattr(layer, "activation")  # that of contrib corrects itself
        if isinstance(layer, tf.keras.layers.BatchNormalization) and not own:
            layer.call = corrected_call(layer)


def hard_sigmoid(x: Any) -> tf.Tensor:
    """``clip(0.2 x + 0.5)`` between 0 and 1, element by element."""
    return tf.clip_by_value(0.2 * x + 0.5, 0.0, 1.0)


def corrected_call(layer: Any) -> Any:
    """The `call` of a batch normalization that stores the variance of a batch as the fused kernel does."""
    call = layer.call

    def call_and_correct(inputs: tf.Tensor, training: bool | None = None, **kwargs: Any) -> tf.Tensor:
        moving, axes = layer.moving_variance.value, layer._reduction_axes
        before = tf.identity(moving)
        outputs = call(inputs, training=training, **kwargs)
        fused = len(axes) in (3, 4) and not {1, len(axes)} <= set(axes) and not getattr(layer, "renorm", False)
        if training and layer.trainable and fused:
            number = tf.cast(tf.size(inputs) // moving.shape[0], moving.dtype)
            moving.assign_add((moving - before * layer.momentum) / tf.maximum(number - 1, 1))
        return outputs

    return call_and_correct

"""Variables beside the weights of a model that begin at zero, such as sums of gradients over several batches."""

from __future__ import annotations

from collections.abc import Sequence

import tensorflow as tf


def zeros_like_weights(model: tf.keras.Model, name: str, weights: Sequence[tf.Variable]) -> list[tf.Variable]:
    """Variables that begin at zero, one like each of `weights`, in the attribute `name` of `model`: made by the first call."""
    if not hasattr(model, name):
        with tf.init_scope():
            zeros = [tf.Variable(tf.zeros(weight.shape, weight.dtype), trainable=False) for weight in weights]
            setattr(model, name, tf.train.Checkpoint(variables=zeros))  # Keras 3 saves no variables of lists
    variables: list[tf.Variable] = getattr(model, name).variables
    return variables

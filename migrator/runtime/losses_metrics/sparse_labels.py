"""Padded labels as sparse ones, as `tf.contrib.layers.dense_to_sparse` made them."""

from __future__ import annotations

from typing import Any

import tensorflow as tf


def dense_to_sparse(tensor: Any, eos_token: int = 0) -> tf.SparseTensor:
    """What is not `eos_token` in a tensor of any shape, such as labels ``[batch, length]`` that are padded with it."""
    indices = tf.where(tf.not_equal(tensor, tf.cast(eos_token, tensor.dtype)))
    return tf.SparseTensor(indices, tf.gather_nd(tensor, indices), tf.shape(tensor, out_type=tf.int64))

"""Columns of sequences in a `model_fn`, as `tf.contrib.feature_column` had them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import tensorflow as tf


def sequence_input_layer(
    features: Mapping[str, Any], feature_columns: Iterable[Any], weight_collections: None = None, trainable: bool = True
) -> tuple[tf.Tensor, tf.Tensor]:
    """Columns of sequences side by side, ``[batch, time, width]``, and the lengths of the sequences, ``[batch]``.

    `weight_collections` must be None: variables are in no collections of their own.
    """
    assert weight_collections is None, weight_collections
    name = tf.compat.v1.get_default_graph().unique_name("sequence_input_layer", mark_as_used=False)
    parts: tuple[tf.Tensor, tf.Tensor] = tf.keras.experimental.SequenceFeatures(feature_columns, trainable, name)(
        features
    )
    return parts

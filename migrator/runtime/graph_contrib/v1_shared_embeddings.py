"""Embedding columns with one table for a `model_fn`; TensorFlow 2 makes them in graphs alone."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import tensorflow as tf


def graph_shared_embedding_columns(categorical_columns: Sequence[Any], dimension: int, *args: Any, **named: Any) -> Any:
    """Does `tf.compat.v1.feature_column.shared_embedding_columns` wherever it is called; each graph has a table."""
    with tf.Graph().as_default():  # the columns hold nothing of it
        make = tf.compat.v1.feature_column.shared_embedding_columns
        return make(categorical_columns, dimension, *args, **named)


def graph_make_parse_example_spec(feature_columns: Iterable[Any]) -> dict[str, Any]:
    """Does `tf.feature_column.make_parse_example_spec` for columns with one table, too."""
    spec: dict[str, Any] = tf.compat.v1.feature_column.make_parse_example_spec(feature_columns)
    return spec

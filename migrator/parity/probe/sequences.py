"""Columns of sequences as in `tf.contrib.feature_column`, for the old side, on the code that TensorFlow 2 still has."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import tensorflow as tf
from tensorflow.python.feature_column import feature_column, feature_column_v2, sequence_feature_column

v1 = tf.compat.v1


class SequenceNumericColumn(sequence_feature_column.SequenceNumericColumn, feature_column._FeatureColumn):  # type: ignore[misc]
    """A column of TensorFlow 2 that functions of TensorFlow 1 accept."""

    @property
    def _parse_example_spec(self) -> Any:
        return self.parse_example_spec

    def _transform_feature(self, inputs: Any) -> Any:
        raise NotImplementedError("a column of sequences goes to sequence_input_layer")


def sequence_numeric_column(*args: Any, **named: Any) -> SequenceNumericColumn:
    """As `tf.feature_column.sequence_numeric_column`."""
    return SequenceNumericColumn(*sequence_feature_column.sequence_numeric_column(*args, **named))


def sequence_input_layer(
    features: Mapping[str, Any], feature_columns: Iterable[Any], weight_collections: Any = None, trainable: bool = True
) -> tuple[tf.Tensor, tf.Tensor]:
    """Columns of sequences side by side, ``[batch, time, width]``, and the lengths of the sequences, ``[batch]``.

    Columns are in the order of their names, and must agree on the lengths.
    """
    with v1.variable_scope(None, default_name="sequence_input_layer"):
        builder = feature_column._LazyBuilder(features)
        parts, lengths = [], []
        for column in sorted(feature_columns, key=lambda column: str(column.name)):
            with v1.variable_scope(None, default_name=column._var_scope_name):
                if isinstance(column, SequenceNumericColumn):
                    cache = feature_column_v2.FeatureTransformationCache(features)
                    part, length = column.get_sequence_dense_tensor(cache, None)
                else:
                    part, length = column._get_sequence_dense_tensor(builder, weight_collections, trainable)
            shape = tf.shape(part)
            parts.append(tf.reshape(part, [shape[0], shape[1], column.variable_shape.num_elements()]))
            lengths.append(length)
        with tf.control_dependencies([v1.assert_equal(lengths[0], length) for length in lengths[1:]]):
            return tf.concat(parts, -1), tf.identity(lengths[0])

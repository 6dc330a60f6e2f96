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


def sequence_loss(
    logits: Any,
    targets: Any,
    weights: Any,
    average_across_timesteps: bool = True,
    average_across_batch: bool = True,
    sum_over_timesteps: bool = False,
    sum_over_batch: bool = False,
    softmax_loss_function: Any = None,
    name: Any = None,
) -> Any:
    """As in ``tensorflow/contrib/seq2seq/python/ops/loss.py`` of TensorFlow 1.15."""
    with tf.compat.v1.name_scope(name, "sequence_loss", [logits, targets, weights]):
        logits_flat = tf.reshape(logits, [-1, tf.shape(logits)[2]])
        targets = tf.reshape(targets, [-1])
        function = softmax_loss_function or tf.compat.v1.nn.sparse_softmax_cross_entropy_with_logits
        crossent = function(labels=targets, logits=logits_flat) * tf.reshape(weights, [-1])
        if average_across_timesteps and average_across_batch:
            return tf.math.divide_no_nan(tf.reduce_sum(crossent), tf.reduce_sum(weights))
        if sum_over_timesteps and sum_over_batch:
            count = tf.cast(tf.math.count_nonzero(weights), crossent.dtype)
            return tf.math.divide_no_nan(tf.reduce_sum(crossent), count)
        crossent = tf.reshape(crossent, tf.shape(logits)[0:2])
        if average_across_timesteps or average_across_batch:
            axis = [0] if average_across_batch else [1]
            return tf.math.divide_no_nan(tf.reduce_sum(crossent, axis), tf.reduce_sum(weights, axis))
        if sum_over_timesteps or sum_over_batch:
            axis = [0] if sum_over_batch else [1]
            count = tf.cast(tf.math.count_nonzero(weights, axis), crossent.dtype)
            return tf.math.divide_no_nan(tf.reduce_sum(crossent, axis), count)
        return crossent

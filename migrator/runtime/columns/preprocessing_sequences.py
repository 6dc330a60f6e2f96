"""Columns of sequences on Keras preprocessing layers, and the layer that reads them.

Each column takes the arguments of the function of ``tf.feature_column`` that it stands for, and gives the same numbers.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Callable

import numpy as np
import tensorflow as tf

from migrator.runtime.columns.preprocessing_categories import (
    HashedColumn,
    IdentityColumn,
    VocabularyFileColumn,
    VocabularyListColumn,
    raw_feature,
)
from migrator.runtime.columns.preprocessing_columns import column_table, sorted_columns


class CategoricalSequence:
    """Makes ids of a categorical column those of the steps of a sequence: ``[batch, time, categories of a step]``."""

    def ids(self, features: Mapping[str, Any]) -> tf.SparseTensor:
        """The ids, int64."""
        ids: tf.SparseTensor = super().ids(features)  # type: ignore[misc]
        shape = tf.shape(ids, out_type=tf.int64)
        return tf.sparse.reshape(ids, [shape[0], shape[1], tf.reduce_prod(shape[2:])])

    def lengths(self, features: Mapping[str, Any]) -> tf.Tensor:
        """Up to its last category, int64 of shape ``[batch]``."""
        return lengths_of_sequences(self.ids(features))


class IdentitySequence(CategoricalSequence, IdentityColumn):
    """``sequence_categorical_column_with_identity``."""


class HashedSequence(CategoricalSequence, HashedColumn):
    """``sequence_categorical_column_with_hash_bucket``."""


class VocabularyListSequence(CategoricalSequence, VocabularyListColumn):
    """``sequence_categorical_column_with_vocabulary_list``."""


class VocabularyFileSequence(CategoricalSequence, VocabularyFileColumn):
    """``sequence_categorical_column_with_vocabulary_file``."""


class NumericSequence:
    """``sequence_numeric_column``: a sparse feature with the numbers of all steps, of one `shape` for each step.

    The rest of shorter sequences is `default_value`; `normalizer_fn` changes the sparse feature.
    """

    def __init__(
        self,
        key: str,
        shape: Any = (1,),
        default_value: float = 0.0,
        dtype: Any = tf.float32,
        normalizer_fn: Callable[[tf.SparseTensor], tf.SparseTensor] | None = None,
    ) -> None:
        self.key = self.name = key
        self.shape = tuple(np.atleast_1d(shape).tolist())
        self.width, self.normalizer_fn, self.default_value = int(np.prod(self.shape)), normalizer_fn, default_value
        self.layers: list[tf.keras.layers.Layer] = []
        self.parse_example_spec = {key: tf.io.VarLenFeature(dtype)}

    def steps(self, features: Mapping[str, Any]) -> tf.SparseTensor:
        """The feature, normalized."""
        tensor = raw_feature(features, self.key)
        return tensor if self.normalizer_fn is None else self.normalizer_fn(tensor)

    def numbers(self, features: Mapping[str, Any], table: Any = None) -> tf.Tensor:
        """float32 of shape ``[batch, time, numbers of a step]``."""
        steps = self.steps(features)
        dense = tf.sparse.to_dense(steps, default_value=tf.constant(self.default_value, steps.dtype))
        return tf.cast(tf.reshape(dense, [tf.shape(dense)[0], -1, self.width]), tf.float32)

    def lengths(self, features: Mapping[str, Any]) -> tf.Tensor:
        """Up to the last number that is there, int64 of shape ``[batch]``."""
        steps = self.steps(features)
        return lengths_of_sequences(steps, self.width if steps.shape.rank == 2 else 1)


def lengths_of_sequences(steps: tf.SparseTensor, width: int = 1) -> tf.Tensor:
    """How many steps each example has, int64 of shape ``[batch]``; `width` values of a row make one step."""
    ends = tf.math.segment_max(steps.indices[:, 1] + 1, steps.indices[:, 0])
    ends = tf.pad(ends, [[0, tf.shape(steps)[0] - tf.shape(ends)[0]]])  # the last examples may be empty
    return (ends + width - 1) // width


class SequenceFeatures(tf.keras.layers.Layer):
    """``sequence_input_layer``: columns of sequences side by side, in the order of their names.

    Input: features by name. Output: float32 of shape ``[batch, time, width of all columns]``, and the lengths of the
    sequences, int64 of shape ``[batch]``, which must be the same in all columns.
    """

    def __init__(self, feature_columns: Any, trainable: bool = True, **kwargs: Any) -> None:
        super().__init__(trainable=trainable, **{"autocast": False, **kwargs})
        self.feature_columns = sorted_columns(feature_columns)
        self.preprocessing = [layer for column in self.feature_columns for layer in column.layers]

    def build(self, input_shape: Any) -> None:
        self.tables = {column.name: column_table(self, column) for column in self.feature_columns}
        super().build(input_shape)

    def call(self, features: Mapping[str, Any]) -> tuple[tf.Tensor, tf.Tensor]:
        parts, lengths = [], []
        for column in self.feature_columns:
            numbers = column.numbers(features, self.tables[column.name])
            parts.append(tf.reshape(numbers, [*tf.unstack(tf.shape(numbers)[:2]), column.width]))
            lengths.append(getattr(column, "categorical_column", column).lengths(features))
        checks = [tf.debugging.assert_equal(other, lengths[0]) for other in lengths[1:]]
        with tf.control_dependencies([check for check in checks if check is not None]):
            return tf.concat(parts, axis=-1), tf.identity(lengths[0])

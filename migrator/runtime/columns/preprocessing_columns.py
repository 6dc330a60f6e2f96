"""Columns of numbers on Keras preprocessing layers, and the two layers that read columns.

Each column takes the arguments of the function of ``tf.feature_column`` that it stands for, and gives the same numbers.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Callable

import numpy as np
import tensorflow as tf

from migrator.runtime.columns.preprocessing_categories import raw_feature
from migrator.runtime.columns.table_variables import tensorflow_variable


class NumericColumn:
    """``numeric_column``: a feature of numbers of one shape, changed by `normalizer_fn`."""

    def __init__(
        self,
        key: str,
        shape: Any = (1,),
        default_value: Any = None,
        dtype: Any = tf.float32,
        normalizer_fn: Callable[[tf.Tensor], tf.Tensor] | None = None,
    ) -> None:
        self.key = self.name = key
        self.shape = tuple(np.atleast_1d(shape).tolist())
        self.width, self.normalizer_fn = int(np.prod(self.shape)), normalizer_fn
        self.layers: list[tf.keras.layers.Layer] = []
        default = None if default_value is None else np.broadcast_to(default_value, self.shape).tolist()
        self.parse_example_spec = {key: tf.io.FixedLenFeature(self.shape, dtype, default)}

    def numbers(self, features: Mapping[str, Any], table: Any = None) -> tf.Tensor:
        """float32 of shape ``[batch, …]``."""
        tensor = raw_feature(features, self.key)
        return tf.cast(tensor if self.normalizer_fn is None else self.normalizer_fn(tensor), tf.float32)


class BucketizedColumn:
    """``bucketized_column``: which of the ranges between `boundaries` a number lies in; a boundary starts a range."""

    def __init__(self, source_column: NumericColumn, boundaries: Sequence[float]) -> None:
        self.source_column = source_column
        self.name = f"{source_column.name}_bucketized"
        self.discretization = tf.keras.layers.Discretization(list(boundaries))
        self.layers = [self.discretization]
        self.ranges = len(boundaries) + 1
        self.num_buckets = self.width = self.ranges * source_column.shape[0]
        self.parse_example_spec = source_column.parse_example_spec

    def buckets(self, features: Mapping[str, Any]) -> tf.Tensor:
        """The range of each number, int64 of shape ``[batch, numbers]``."""
        return tf.cast(self.discretization(self.source_column.numbers(features)), tf.int64)

    def numbers(self, features: Mapping[str, Any], table: Any = None) -> tf.Tensor:
        """One-hot, float32 of shape ``[batch, numbers, ranges]``."""
        return tf.one_hot(self.buckets(features), self.ranges)

    def ids(self, features: Mapping[str, Any]) -> tf.SparseTensor:
        """The ranges as categories: those of the second number come behind those of the first."""
        ids = self.buckets(features) + self.ranges * tf.range(self.source_column.shape[0], dtype=tf.int64)
        indices = tf.where(ids >= 0)
        return tf.SparseTensor(indices, tf.gather_nd(ids, indices), tf.shape(ids, out_type=tf.int64))


class IndicatorColumn:
    """``indicator_column``: how often each category occurs in an example, or the sum of its weights."""

    def __init__(self, categorical_column: Any) -> None:
        self.categorical_column = categorical_column
        self.name = f"{categorical_column.name}_indicator"
        self.width = categorical_column.num_buckets
        self.layers = categorical_column.layers
        self.parse_example_spec = categorical_column.parse_example_spec

    def numbers(self, features: Mapping[str, Any], table: Any = None) -> tf.Tensor:
        """float32 of shape ``[batch, categories]``."""
        ids = self.categorical_column.ids(features)
        one_hot = tf.one_hot(tf.sparse.to_dense(ids, default_value=-1), self.width)  # zeros for -1
        if hasattr(self.categorical_column, "weights"):
            one_hot *= tf.sparse.to_dense(self.categorical_column.weights(features))[..., tf.newaxis]
        return tf.reduce_sum(one_hot, axis=-2)


class EmbeddingColumn:
    """``embedding_column``: a row of a table for each category; several of one example are combined.

    The table belongs to the layer that reads the column.
    """

    def __init__(
        self,
        categorical_column: Any,
        dimension: int,
        combiner: str = "mean",
        initializer: Any = None,
        max_norm: float | None = None,
        trainable: bool = True,
    ) -> None:
        self.categorical_column, self.width, self.combiner = categorical_column, dimension, combiner
        self.name = f"{categorical_column.name}_embedding"
        self.initializer, self.max_norm, self.trainable = initializer, max_norm, trainable
        self.layers = categorical_column.layers
        self.table_shape = (categorical_column.num_buckets, dimension)
        self.parse_example_spec = categorical_column.parse_example_spec

    def table(self, layer: tf.keras.layers.Layer, scope: str) -> Any:
        """A table as a weight of `layer`."""
        default = tf.keras.initializers.TruncatedNormal(
            stddev=1 / math.sqrt(self.width)
        )  # one gives the same numbers again
        with tf.name_scope(scope):
            table = layer.add_weight(
                name="embedding_weights",
                shape=self.table_shape,
                initializer=self.initializer or default,
                trainable=layer.trainable and self.trainable,
            )
        layer._track_trackable(table, f"{scope}/embedding_weights", overwrite=True)  # for checkpoints
        return table

    def numbers(self, features: Mapping[str, Any], table: Any = None) -> tf.Tensor:
        """float32 of shape ``[batch, dimension]``, or ``[batch, time, dimension]``, looked up in `table`."""
        return combined_rows(table, self.categorical_column, features, self.combiner, self.max_norm)


def combined_rows(
    table: Any, column: Any, features: Mapping[str, Any], combiner: str, max_norm: float | None = None
) -> tf.Tensor:
    """The rows of `table` for the categories of each example, combined; zeros where there are none."""
    ids = column.ids(features)
    weights = column.weights(features) if hasattr(column, "weights") else None
    variable = tensorflow_variable(table)
    return tf.nn.safe_embedding_lookup_sparse(variable, ids, weights, combiner, max_norm=max_norm)


def sorted_columns(feature_columns: Any) -> list[Any]:
    """Columns in the order of their names."""
    columns = [feature_columns] if hasattr(feature_columns, "parse_example_spec") else feature_columns
    return sorted(columns, key=lambda column: column.name)


def make_parse_example_spec(feature_columns: Iterable[Any]) -> dict[str, Any]:
    """How ``tf.io.parse_example`` finds the features of all columns."""
    return {key: value for column in feature_columns for key, value in column.parse_example_spec.items()}


class DenseFeatures(tf.keras.layers.Layer):
    """``input_layer``: columns of numbers side by side, in the order of their names.

    Input: features by name. Output: float32 of shape ``[batch, width of all columns]``.
    """

    def __init__(self, feature_columns: Any, trainable: bool = True, **kwargs: Any) -> None:
        super().__init__(trainable=trainable, **{"autocast": False, **kwargs})  # columns cast as TensorFlow 1 does
        self.feature_columns = sorted_columns(feature_columns)
        self.preprocessing = [layer for column in self.feature_columns for layer in column.layers]

    def build(self, input_shape: Any) -> None:
        self.tables = {column.name: column_table(self, column) for column in self.feature_columns}
        super().build(input_shape)

    def call(self, features: Mapping[str, Any]) -> tf.Tensor:
        numbers = [column.numbers(features, self.tables[column.name]) for column in self.feature_columns]
        widths = [column.width for column in self.feature_columns]
        return tf.concat([tf.reshape(one, [-1, width]) for one, width in zip(numbers, widths)], axis=1)


def column_table(layer: tf.keras.layers.Layer, column: Any) -> Any:
    """The table of an `EmbeddingColumn` for `layer`; None for other columns."""
    return column.table(layer, column.name) if hasattr(column, "table") else None


class LinearColumns(tf.keras.layers.Layer):
    """``linear_model``: a weighted sum of columns, plus a bias.

    A categorical column has one row of weights per category, others a row per number; all start at zero.

    Args:
        feature_columns: columns of any kind; the order does not matter.
        units: width of the output.
        sparse_combiner: how the weights of several categories of one example add up: ``sum``, ``mean`` or ``sqrtn``.

    Input: features by name. Output: float32 of shape ``[batch, units]``.
    """

    def __init__(
        self, feature_columns: Any, units: int = 1, sparse_combiner: str = "sum", name: str = "linear_model"
    ) -> None:
        super().__init__(name=name, autocast=False)
        self.feature_columns = sorted_columns(feature_columns)
        self.preprocessing = [layer for column in self.feature_columns for layer in column.layers]
        self.units, self.sparse_combiner = units, sparse_combiner

    def build(self, input_shape: Any) -> None:
        self.tables, self.column_weights = {}, {}
        for column in self.feature_columns:
            self.tables[column.name] = column_table(self, column)
            rows = column.num_buckets if hasattr(column, "ids") else column.width
            with tf.name_scope(column.name):
                weights = self.add_weight(name="weights", shape=(rows, self.units), initializer="zeros")
            self._track_trackable(weights, f"{column.name}/weights", overwrite=True)  # for checkpoints
            self.column_weights[column.name] = weights
        self.bias = self.add_weight(name="bias_weights", shape=(self.units,), initializer="zeros")
        super().build(input_shape)

    def call(self, features: Mapping[str, Any]) -> tf.Tensor:
        return tf.add_n([self.column_sum(column, features) for column in self.feature_columns]) + self.bias

    def column_sum(self, column: Any, features: Mapping[str, Any]) -> tf.Tensor:
        """What one column adds, of shape ``[batch, units]``."""
        weights = self.column_weights[column.name]
        if hasattr(column, "ids"):
            return combined_rows(weights, column, features, self.sparse_combiner)
        return tf.reshape(column.numbers(features, self.tables[column.name]), [-1, column.width]) @ weights

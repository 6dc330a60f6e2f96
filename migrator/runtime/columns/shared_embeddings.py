"""Embedding columns with one table: `tf.feature_column.shared_embedding_columns`, which TensorFlow 2 has only in graphs."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from migrator.runtime.columns.table_variables import tensorflow_variable

SHARED_TABLES: Any = weakref.WeakKeyDictionary()
"""The tables that columns share, by the layer that reads them and by name."""


def share_tables(model: tf.keras.Model) -> None:
    """Has all layers of a model look up in the same tables, where their columns name the same, as those of a graph do."""
    tables: dict[str, Any] = {}
    for layer in model._flatten_layers():
        SHARED_TABLES[layer] = tables


class SharedEmbeddingColumn(
    tf.__internal__.feature_column.DenseColumn, tf.__internal__.feature_column.SequenceDenseColumn
):
    """A categorical column, looked up in the table that it shares with other columns."""

    def __init__(self, categorical_column: Any, tables: SharedTables, combiner: str, max_norm: float | None) -> None:
        self.categorical_column, self.tables = categorical_column, tables
        self.combiner, self.max_norm = combiner, max_norm

    @property
    def _is_v2_column(self) -> bool:
        return True

    @property
    def name(self) -> str:
        return f"{self.categorical_column.name}_shared_embedding"

    @property
    def parents(self) -> list[Any]:
        return [self.categorical_column]

    @property
    def parse_example_spec(self) -> Any:
        return self.categorical_column.parse_example_spec

    @property
    def variable_shape(self) -> tf.TensorShape:
        return tf.TensorShape([self.tables.dimension])

    def create_state(self, state_manager: Any) -> None:
        self.categorical_column.create_state(state_manager)
        self.tables.create(self, state_manager)

    def transform_feature(self, transformation_cache: Any, state_manager: Any) -> Any:
        return transformation_cache.get(self.categorical_column, state_manager)

    def get_dense_tensor(self, transformation_cache: Any, state_manager: Any) -> tf.Tensor:
        """The embedding of each example, ``[batch, dimension]``."""
        ids, weights = self.categorical_column.get_sparse_tensors(transformation_cache, state_manager)
        table = self.tables.of(state_manager)
        return tf.nn.safe_embedding_lookup_sparse(table, ids, weights, self.combiner, max_norm=self.max_norm)

    def get_sequence_dense_tensor(self, transformation_cache: Any, state_manager: Any) -> Any:
        """The embeddings of the steps of each example, ``[batch, time, dimension]``, and how many steps it has."""
        ids, _ = self.categorical_column.get_sparse_tensors(transformation_cache, state_manager)
        steps = tf.math.segment_max(ids.indices[:, 1] + 1, ids.indices[:, 0])
        lengths = tf.pad(steps, [[0, tf.shape(ids)[0] - tf.shape(steps)[0]]])  # the last examples may be empty
        embeddings = self.get_dense_tensor(transformation_cache, state_manager)
        return self.TensorSequenceLengthPair(dense_tensor=embeddings, sequence_length=lengths)

    def get_config(self) -> dict[str, Any]:
        raise NotImplementedError("Shared embeddings have no configuration: make them anew.")

    @classmethod
    def from_config(cls, config: Any, custom_objects: Any = None, columns_by_name: Any = None) -> Any:
        raise NotImplementedError("Shared embeddings have no configuration: make them anew.")


class SharedTables:
    """The table of some columns: one for each layer that reads them, or for all layers of a model after `share_tables`."""

    def __init__(self, name: str, rows: int, dimension: int, initializer: Any, trainable: bool) -> None:
        self.name, self.rows, self.dimension = name, rows, dimension
        self.initializer, self.trainable = initializer, trainable

    def of(self, state_manager: Any) -> Any:
        """The table of the layer behind `state_manager`."""
        return tensorflow_variable(SHARED_TABLES[state_manager._layer][self.name])

    def create(self, column: SharedEmbeddingColumn, state_manager: Any) -> None:
        """Creates the table of the layer behind `state_manager`, unless another column has done so."""
        tables = SHARED_TABLES.setdefault(state_manager._layer, {})
        if self.name in tables:
            return
        layer_scope = tf.__internal__.get_name_scope().rpartition("/")[0]  # that of the column is the innermost
        with tf.name_scope(f"{layer_scope}/{self.name}/" if layer_scope else f"{self.name}/"):
            tables[self.name] = state_manager.create_variable(
                column,
                "embedding_weights",
                shape=(self.rows, self.dimension),
                dtype=tf.float32,
                trainable=self.trainable,
                initializer=self.initializer or tf.keras.initializers.TruncatedNormal(0.0, self.dimension**-0.5),
            )


def shared_table_name(categorical_columns: Sequence[Any]) -> str:
    """The name that TensorFlow 1 gives a table by default: the names of its columns, in order.

    Raises:
        ValueError: if the columns differ in their number of categories, or in their kind.
    """
    plain = [getattr(column, "categorical_column", column) for column in categorical_columns]  # of weighted ones
    if len({(type(column), column.num_buckets) for column in plain}) != 1:
        raise ValueError(f"Columns that share a table must be alike, given: {categorical_columns}")
    return "_".join([*sorted(column.name for column in categorical_columns), "shared_embedding"])


def shared_embedding_columns(
    categorical_columns: Sequence[Any],
    dimension: int,
    combiner: str = "mean",
    initializer: Any = None,
    shared_embedding_collection_name: str | None = None,
    max_norm: float | None = None,
    trainable: bool = True,
) -> list[SharedEmbeddingColumn]:
    """Dense columns of `dimension` numbers, one for each categorical column, that share one table.

    Args:
        combiner: how the embeddings of several categories of one example add up: ``sum``, ``mean`` or ``sqrtn``.
        initializer: of the table; None: truncated normal numbers with the deviation ``1 / sqrt(dimension)``.
        shared_embedding_collection_name: name of the table; None: the names of the columns, in order.
        max_norm: longer embeddings are shortened to this norm.
        trainable: whether the table is trained.

    Raises:
        ValueError: if the columns differ in their number of categories, or in their kind.
    """
    default_name = shared_table_name(categorical_columns)
    name = shared_embedding_collection_name or default_name
    tables = SharedTables(name, categorical_columns[0].num_buckets, dimension, initializer, trainable)
    return [SharedEmbeddingColumn(column, tables, combiner, max_norm) for column in categorical_columns]

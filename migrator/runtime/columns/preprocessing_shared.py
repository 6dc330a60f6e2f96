"""Columns of numbers on Keras preprocessing layers that look up in one table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from migrator.runtime.columns.preprocessing_columns import EmbeddingColumn
from migrator.runtime.columns.shared_embeddings import SHARED_TABLES, shared_table_name


class SharedTableColumn(EmbeddingColumn):
    """An `EmbeddingColumn` whose table is that of the layer with this name, which its other columns share."""

    def __init__(self, table_name: str, categorical_column: Any, *args: Any, **named: Any) -> None:
        super().__init__(categorical_column, *args, **named)
        self.table_name, self.name = table_name, f"{categorical_column.name}_shared_embedding"

    def table(self, layer: tf.keras.layers.Layer, scope: str) -> Any:
        """The table for `layer`, which the first of the columns makes."""
        tables = SHARED_TABLES.setdefault(layer, {})
        if self.table_name not in tables:
            tables[self.table_name] = super().table(layer, self.table_name)
        return tables[self.table_name]


def shared_table_columns(
    categorical_columns: Sequence[Any],
    dimension: int,
    combiner: str = "mean",
    initializer: Any = None,
    shared_embedding_collection_name: str | None = None,
    max_norm: float | None = None,
    trainable: bool = True,
) -> list[SharedTableColumn]:
    """``shared_embedding_columns``: an embedding column for each categorical column, with one table for all of them.

    Args:
        dimension: width of the table.
        combiner: how the rows of several categories of one example add up: ``sum``, ``mean`` or ``sqrtn``.
        initializer: of the table; None: truncated normal numbers with the deviation ``1 / sqrt(dimension)``.
        shared_embedding_collection_name: name of the table; None: the names of the columns, in order.
        max_norm: longer rows are shortened to this norm.
        trainable: whether the table is trained.

    Raises:
        ValueError: if the columns differ in their number of categories, or in their kind.
    """
    default_name = shared_table_name(categorical_columns)
    name = shared_embedding_collection_name or default_name
    settings = (dimension, combiner, initializer, max_norm, trainable)
    return [SharedTableColumn(name, column, *settings) for column in categorical_columns]

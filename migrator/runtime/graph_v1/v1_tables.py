"""Lookup tables that a TensorFlow 1 graph makes, kept where an exported model finds them."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import tensorflow as tf

from migrator.runtime.graph_v1.v1_initial_values import initial_value

TABLES = ("StaticHashTable", "StaticHashTableV1", "HashTable")


@contextlib.contextmanager
def kept_tables(tables: list[Any]) -> Iterator[None]:
    """Makes the tables of the graph under construction outside of it, filled, and adds them to `tables`.

    A graph only holds the handle of a table; a SavedModel needs the table, and words that do not depend on the graph.
    """
    graph, made = tf.compat.v1.get_default_graph(), tf.lookup.KeyValueTensorInitializer

    def create(next_creator: Any, initializer: Any, *args: Any, **named: Any) -> Any:
        if isinstance(initializer, made):
            keys, values = (initial_value(graph, part) for part in (initializer._keys, initializer._values))
        with tf.init_scope():
            if isinstance(initializer, made):
                initializer = made(keys, values, initializer.key_dtype, initializer.value_dtype)
            table = next_creator(initializer, *args, **named)
        tables.append(table)
        return table

    with tf.init_scope():
        outer = tf.compat.v1.get_default_graph()  # where feature columns make theirs
    with graph._resource_creator_scope(TABLES, create), outer._resource_creator_scope(TABLES, create):
        yield

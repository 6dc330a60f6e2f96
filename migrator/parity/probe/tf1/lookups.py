"""Lookups in partitioned variables that deal rows out in turn, as TensorFlow 1 does by default (``partition_strategy="mod"``).

TensorFlow 2 knows blocks of rows only. What belongs together are the rows of one id, so the old side gives the rows of
such a variable in the order of their ids.
"""

from __future__ import annotations

from typing import Any

import numpy as np

NOTE = "rows of partitioned variables are compared id by id: lookups dealt them out in turn (partition_strategy='mod')"
_ATTRIBUTE = "_rows_in_turn"


def install() -> None:
    """Lets every graph note the variables that lookups take rows from in turn."""
    import tensorflow as tf
    from tensorflow.python.ops import embedding_ops

    original: Any = embedding_ops._embedding_lookup_and_transform

    def lookup(params: Any, ids: Any, partition_strategy: str = "mod", *rest: Any, **named: Any) -> Any:
        parts = list(params) if isinstance(params, (list, tuple)) or hasattr(params, "_variable_list") else [params]
        if len(parts) > 1 and partition_strategy == "mod":
            slices = [getattr(part, "_save_slice_info", None) for part in parts]
            graph = tf.compat.v1.get_default_graph()
            setattr(graph, _ATTRIBUTE, in_turn(graph) | {info.full_name for info in slices if info is not None})
        return original(params, ids, partition_strategy, *rest, **named)

    embedding_ops._embedding_lookup_and_transform = lookup


def in_turn(graph: Any) -> frozenset[str]:
    """Names of the variables whose rows `graph` looks up in turn."""
    return frozenset(getattr(graph, _ATTRIBUTE, ()))


def by_id(value: Any, offsets: list[int]) -> Any:
    """The rows of a variable in the order of their ids; its parts begin at `offsets`."""
    rows = np.empty_like(value)
    for number, part in enumerate(np.split(value, sorted(offsets)[1:])):
        rows[number :: len(offsets)] = part
    return rows

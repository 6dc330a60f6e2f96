"""Containers of batches and of predictions, as Estimators hand them around."""

from __future__ import annotations

from typing import Any

import numpy as np


def shallow(tree: Any) -> Any:
    """A copy of the containers of `tree`: model_fns like to add to and pop from their features."""
    if isinstance(tree, dict):
        return {key: shallow(value) for key, value in tree.items()}
    if isinstance(tree, list) or type(tree) is tuple:
        return type(tree)(shallow(value) for value in tree)
    return tree


def joined(batches: list[Any]) -> Any:
    """Batches [n, ...] one behind the other -> an array [all, ...]; flat where they are padded to different lengths."""
    alike = len({np.shape(batch)[1:] for batch in batches}) == 1
    return np.concatenate(batches if alike else [np.reshape(batch, -1) for batch in batches])


def stacked(rows: list[Any], single: bool) -> dict[str, Any]:
    """Rows as `predict` yields them -> arrays [n, ...] by key; rows that are no dicts go under ``output``.

    Keys of several parts, as heads of a MultiHead have, are joined with slashes.
    """
    if not rows:
        return {}
    tables = [row if isinstance(row, dict) else {"output": row} for row in rows]
    result = {}
    for key in tables[0]:
        values = [np.asarray(row[key]) for row in tables]
        if not single:
            values = [part for value in values for part in (value if value.ndim else [value])]
        result["/".join(key) if isinstance(key, tuple) else key] = (
            np.stack(values)
            if len({np.shape(v) for v in values}) == 1
            else np.concatenate([np.reshape(v, -1) for v in values])
        )
    return result

"""What a program wrote for TensorBoard: for each folder of event files, the steps and values of each tag."""

from __future__ import annotations

import os
import re
from collections.abc import Collection
from typing import Any, Optional

from . import store

_TEMPORARY = re.compile(r"^tmp[a-z0-9_]{8}$")
"""Folders that `tempfile.mkdtemp` names by chance."""


def record(writer: store.Writer, sandbox: str, since: float = 0.0, unnamed: Collection[str] = ()) -> None:
    """Record what the event files below `sandbox` hold, with an event ``summaries`` for each of their folders.

    Files that were last written before `since` came with the program, and are left out. `unnamed` are the folders that
    Estimators made for themselves, as the program names none.
    """
    import tensorflow as tf

    found: list[tuple[float, str, dict[str, Any]]] = []
    for folder, _, names in os.walk(sandbox):
        tags: dict[str, Any] = {}
        started = 0.0
        for name in sorted(name for name in names if "tfevents" in name):
            if os.path.getmtime(os.path.join(folder, name)) < since:
                continue
            try:
                for event in tf.compat.v1.train.summary_iterator(os.path.join(folder, name)):
                    started = started or event.wall_time
                    for value in event.summary.value:
                        tags.setdefault(value.tag, []).append([event.step, _number(value)])
            except tf.errors.DataLossError:  # its last event is still being written
                pass
        boards = os.path.basename(folder) == "train" and any("tfevents" in name for name in names)
        if tags or boards:  # of TensorBoard of Keras, which may have nothing to show
            found.append((started, os.path.relpath(folder, sandbox), tags))
    temporary: dict[str, str] = {}
    for _, folder, tags in sorted(found, key=lambda item: item[:2]):
        parts = folder.split(os.sep)
        own = not set(parts).isdisjoint(unnamed)
        for index, part in enumerate(parts):
            if _TEMPORARY.match(part):
                parts[index] = temporary.setdefault(part, f"temporary {len(temporary) + 1}")
        writer.event("summaries", folder="/".join(parts), tags=tags, **({"unnamed": True} if own else {}))


def _number(value: Any) -> Optional[float]:
    """The scalar that a value of a summary holds; None for histograms, images and all else."""
    import tensorflow as tf

    if value.HasField("simple_value"):
        return float(value.simple_value)
    if value.HasField("tensor") and value.tensor.dtype != tf.string.as_datatype_enum:
        array = tf.make_ndarray(value.tensor)
        return float(array) if array.ndim == 0 else None
    return None

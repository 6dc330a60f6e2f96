"""Reads what a run wrote for TensorBoard."""

from __future__ import annotations

from typing import Any

import tensorflow as tf


def read_scalars(pattern: str) -> dict[int, dict[str, Any]]:
    """Scalars in the event files that match a pattern, by step and tag; steps in order."""
    scalars: dict[int, dict[str, Any]] = {}
    for path in sorted(tf.io.gfile.glob(pattern)):
        for event in tf.compat.v1.train.summary_iterator(path):
            for value in event.summary.value:
                if value.HasField("simple_value"):
                    scalars.setdefault(event.step, {})[value.tag] = value.simple_value
    return dict(sorted(scalars.items()))

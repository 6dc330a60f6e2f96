"""Live mode: input pipelines run on both sides without shuffling, so that their batches can be compared in order.

The order that `shuffle` gives differs between TensorFlow versions even with equal seeds. Whether a side asked for
shuffling is written to its recording: a forgotten `shuffle` is a difference.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .recorded import store


def install(writer: store.Writer, estimators: bool) -> None:
    """Patch datasets and, if `estimators`, the input functions that come with Estimators."""
    import tensorflow as tf

    seen: set[tuple[str, int | None]] = set()

    def say(what: str, size: Any = None) -> None:
        size = int(size) if isinstance(size, (int, np.integer)) else None
        if (what, size) not in seen:
            seen.add((what, size))
            writer.event("shuffle", text=what, size=size)

    def shuffle(self: Any, buffer_size: Any, *args: Any, **named: Any) -> Any:
        say("Dataset.shuffle", buffer_size)
        return self

    def shuffle_and_repeat(buffer_size: Any, count: Any = None, seed: Any = None) -> Any:
        say("shuffle_and_repeat", buffer_size)
        return lambda dataset: dataset.repeat(count)

    versions = [tf] + ([tf.compat.v1] if hasattr(tf.compat, "v1") else [])
    for api in versions:
        for kind in getattr(api.data.Dataset, "__mro__", ()):
            if "shuffle" in vars(kind):
                kind.shuffle = shuffle
        if hasattr(api.data.experimental, "shuffle_and_repeat"):
            api.data.experimental.shuffle_and_repeat = shuffle_and_repeat
        inputs = getattr(getattr(api, "estimator", None), "inputs", None) if estimators else None
        for name in ("numpy_input_fn", "pandas_input_fn"):
            if inputs is not None and hasattr(inputs, name):
                setattr(inputs, name, _in_order(getattr(inputs, name), name, say))


def _in_order(function: Any, name: str, say: Any) -> Any:
    def call(*args: Any, **named: Any) -> Any:
        if named.get("shuffle"):
            say(name)
            named["shuffle"] = False
        return function(*args, **named)

    return call

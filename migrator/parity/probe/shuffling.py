"""Live mode: input pipelines run on both sides without shuffling, so that their batches can be compared in order.

The order that `shuffle` gives differs between TensorFlow versions even with equal seeds. Whether a side asked for
shuffling is written to its recording, and what is shuffled: a forgotten `shuffle` is a difference.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .recorded import store


def install(writer: store.Writer, estimators: bool) -> None:
    """Patch datasets and, if `estimators`, the input functions that come with Estimators."""
    import tensorflow as tf

    seen: set[tuple[str, int | None, str]] = set()

    def say(what: str, size: Any = None, how: str = "") -> None:
        size = int(size) if isinstance(size, (int, np.integer)) else None
        if (what, size, how) not in seen:
            seen.add((what, size, how))
            writer.event("shuffle", text=what, size=size, how=how)

    def shuffle(
        self: Any, buffer_size: Any, seed: Any = None, reshuffle_each_iteration: Any = None, *args: Any, **named: Any
    ) -> Any:
        again = "anew in each pass" if reshuffle_each_iteration in (None, True) else "once for all passes"
        seeded = [f"by the seed {seed}"] if isinstance(seed, (int, np.integer)) else []
        say("Dataset.shuffle", buffer_size, ", ".join([again, *seeded, *_made_of(self)]))
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


def _made_of(dataset: Any) -> list[str]:
    """What was done to data before they are shuffled, of what makes it another order."""
    found: set[str] = set()
    left = [dataset]
    while left:
        each = getattr(left[-1], "_dataset", left[-1])  # of the class of TensorFlow 1
        left.pop()
        kind = type(each).__name__
        found |= {text for word, text in (("Repeat", "behind repeat"), ("Batch", "behind batch")) if word in kind}
        left += each._inputs() if hasattr(each, "_inputs") else []
    return sorted(found)


def _in_order(function: Any, name: str, say: Any) -> Any:
    def call(*args: Any, **named: Any) -> Any:
        if named.get("shuffle"):
            say(name)
            named["shuffle"] = False
        return function(*args, **named)

    return call

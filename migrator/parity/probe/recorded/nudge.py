"""Changes the last bit of the weights that the old program begins with, to see what rounding alone makes of it."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import distributed
from .session_values import logical


class Nudges:
    """Which weights of which models are done: each is changed once, as soon as it is not zero."""

    def __init__(self) -> None:
        self.done: set[tuple[int, str]] = set()

    def prepare(self, stream: int, variables: list[Any]) -> list[tuple[tuple[int, str], Any, Any, Any]]:
        """Weights with what assigns to them: a placeholder and an op. Adds to the graph, which is about to be finished."""
        import tensorflow as tf

        v1 = tf.compat.v1
        found = []
        trained = {id(part) for variable in v1.trainable_variables() for part in distributed.components(variable)}
        for variable in variables:
            for number, part in enumerate(distributed.components(variable)):
                dtype = part.dtype.base_dtype
                key = (stream, f"{logical(part)[0]} {logical(part)[2]} {number}")
                if id(part) in trained and key not in self.done and dtype in (tf.float16, tf.float32, tf.float64):
                    with v1.name_scope("parity_nudge"), v1.device(part.device):
                        value = v1.placeholder(dtype, part.shape)
                        found.append((key, part, value, v1.assign(part, value).op))
        return found

    def apply(self, session: Any, prepared: list[tuple[tuple[int, str], Any, Any, Any]]) -> None:
        """Change those of the weights that are not zero, and are not done."""
        for key, part, value, assign in prepared:
            if key not in self.done:
                now = session.run(part)
                if np.any(now):
                    self.done.add(key)
                    session.run(assign, {value: nudged(now)})


def nudged(value: Any) -> Any:
    """`value` with each number a last bit larger or smaller."""
    ways = np.random.RandomState(0).choice([-np.inf, np.inf], np.shape(value)).astype(value.dtype)
    return np.where(value == 0, value, np.nextafter(value, ways)).astype(value.dtype)

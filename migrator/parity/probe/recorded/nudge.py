"""Changes the last bit of the weights of the old program before each step, to see what rounding alone makes of it."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import distributed


class Nudges:
    """Another `seed` changes them in other ways."""

    def __init__(self, seed: int) -> None:
        self._random = np.random.RandomState(seed)

    def prepare(self, variables: list[Any]) -> list[tuple[Any, Any, Any]]:
        """Weights with what assigns to them: a placeholder and an op. Adds to the graph, which is about to be finished."""
        import tensorflow as tf

        v1 = tf.compat.v1
        found = []
        trained = {id(part) for variable in v1.trainable_variables() for part in distributed.components(variable)}
        for part in (part for variable in variables for part in distributed.components(variable)):
            dtype = part.dtype.base_dtype
            if id(part) in trained and dtype in (tf.float16, tf.float32, tf.float64):
                with v1.name_scope("parity_nudge"), v1.device(part.device):
                    value = v1.placeholder(dtype, part.shape)
                    found.append((part, value, v1.assign(part, value).op))
        return found

    def apply(self, session: Any, prepared: list[tuple[Any, Any, Any]]) -> None:
        """Change them."""
        values = session.run([part for part, _, _ in prepared])
        feed = {place: nudged(value, self._random) for (_, place, _), value in zip(prepared, values)}
        session.run([assign for _, _, assign in prepared], feed)


def nudged(value: Any, random: np.random.RandomState) -> Any:
    """`value` with each number a last bit larger or smaller, but for zeros."""
    ways = random.choice([-np.inf, np.inf], np.shape(value)).astype(value.dtype)
    return np.where(value == 0, value, np.nextafter(value, ways)).astype(value.dtype)

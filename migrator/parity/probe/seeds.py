"""What a program draws by chance, by one number: another one than 0 gives other weights, masks and orders on both sides."""

from __future__ import annotations

import random
from typing import Any, Callable

import numpy as np

GIVEN: set[int] = set()
"""What the program has seeded TensorFlow with."""


def python(seed: int) -> None:
    """Seed Python and NumPy."""
    random.seed(seed)
    np.random.seed(seed % 2**32)


def begin(seed: int) -> None:
    """Let a program of TensorFlow 2 draw by `seed`, whatever it seeds by itself."""
    import tensorflow as tf

    shift(seed)
    tf.random.set_seed(1)  # so that a verdict can be had twice
    GIVEN.clear()


def shift(seed: int) -> None:
    """Add `seed` to what the program seeds TensorFlow with; an Estimator without a seed, which draws anew in each run, gets it.

    Without that, no verdict could be had twice.
    """
    import tensorflow as tf

    v1 = getattr(tf.compat, "v1", None) or tf
    for owner in (v1, v1.random, tf.random, getattr(tf.keras, "utils", None)):
        for name in ("set_random_seed", "set_seed"):
            function = getattr(owner, name, None)
            if function is not None and not hasattr(function, "_parity"):
                setattr(owner, name, _shifted(function, seed))


def _shifted(function: Callable[[Any], Any], seed: int) -> Callable[[Any], Any]:
    def shifted(given: Any) -> Any:
        GIVEN.update([int(given)] if given is not None else [])
        return function((1 if given is None else int(given)) + seed)

    shifted._parity = True  # type: ignore[attr-defined]
    return shifted

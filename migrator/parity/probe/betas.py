"""The betas of Keras's Adam as TensorFlow 1 had them, so that what that rounds hides nothing else.

TensorFlow 1 computed ``1 - beta2`` of float32, Keras computes it of Python's numbers: with 0.999 they are 1.3e-5 apart, and
steps half as much.
"""

from __future__ import annotations

from typing import Any, Callable

import numpy as np

NOTE = (
    "Adam of Keras rounds 1 - beta_2 otherwise, by which its steps differ by 6e-6: compared with the rounding of"
    " TensorFlow 1, which `migrate --exact` keeps"
)


def install(note: Callable[[str], None]) -> None:
    """Patch Keras: an Adam that is about to take its first step has betas that float32 holds."""
    import tensorflow as tf

    build = tf.keras.optimizers.Adam.build

    def rounded(self: Any, *args: Any, **named: Any) -> Any:
        note(NOTE)
        self.beta_1, self.beta_2 = (float(np.float32(beta)) for beta in (self.beta_1, self.beta_2))
        return build(self, *args, **named)

    tf.keras.optimizers.Adam.build = rounded

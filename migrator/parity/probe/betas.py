"""The betas of Keras's Adam as TensorFlow 1 had them, so that what that rounds hides nothing else.

TensorFlow 1 computed ``1 - beta2`` of float32, Keras computes it of Python's numbers: with 0.999 they are 1.3e-5 apart, and
steps half as much. And TensorFlow 1 multiplied ``beta ** step`` once more after each step, Keras raises it to the power of the
step: in the first steps, where that is nearly 1, another 1e-5.
"""

from __future__ import annotations

from typing import Any, Callable

import numpy as np

NOTE = (
    "Adam of Keras rounds 1 - beta_2 and the powers of betas otherwise, by which its steps differ by 1e-5: compared with the"
    " rounding of TensorFlow 1, which `migrate --exact` keeps"
)
_POWERS = (("tf", "pow"), ("ops", "power"))
"""What the module of Adam calls to raise a beta, in Keras 2 and 3."""


class _Instead:
    """A module, of which one function is another."""

    def __init__(self, module: Any, **functions: Any) -> None:
        self.__dict__.update(functions, _module=module)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._module, name)


def _product(beta: Any, step: Any) -> Any:
    """As many betas as there were steps, rounded after each."""
    import tensorflow as tf

    value = float(tf.get_static_value(beta))
    # as many as count beside 1: the next products are lost when they are taken from it
    longest = int(20 / max(1 - value, 2e-5)) + 1
    products = tf.constant(np.cumprod(np.full(longest, value, np.float32), dtype=np.float32))
    return tf.cast(tf.gather(products, tf.minimum(tf.cast(step, tf.int32), longest) - 1), beta.dtype)


def install(note: Callable[[str], None]) -> None:
    """Patch Keras: an Adam that is about to take its first step has betas that float32 holds, and multiplies them."""
    import tensorflow as tf

    build = tf.keras.optimizers.Adam.build

    def rounded(self: Any, *args: Any, **named: Any) -> Any:
        note(NOTE)
        self.beta_1, self.beta_2 = (float(np.float32(beta)) for beta in (self.beta_1, self.beta_2))
        return build(self, *args, **named)

    tf.keras.optimizers.Adam.build = rounded
    names = tf.keras.optimizers.Adam.update_step.__globals__
    for module, power in _POWERS:
        if module in names:
            names[module] = _Instead(names[module], **{power: _product})

"""Dropout masks that depend on nothing but the last two sizes, so that both sides drop the same units.

These two are the same whether a recurrent network drops units step by step or in whole sequences.

A random mask would hide a wrong rate, or dropout left on in evaluation, behind differences that are to be expected.
Every dropout of every Keras and of TF1 ends in one function of `tensorflow.python.ops.nn_ops`.
"""

from __future__ import annotations

from typing import Any, Callable

SEED = (20160, 4)
NOTE = "dropout masks are equal on both sides: computed from the shape of the input, the same at every step"


def install(note: Callable[[str], None]) -> None:
    """Patch TensorFlow; each dropout of the program is noted for the report, which says it once."""
    import tensorflow as tf
    from tensorflow.python.ops import nn_ops

    uniform: Any = tf.random.stateless_uniform
    # By its own choice XLA, with which `fit` of Keras 3 compiles, takes another algorithm than the kernels.
    algorithm = {} if tf.__version__.startswith("1.") else {"alg": "philox"}

    def sample(shape: Any, dtype: Any) -> Any:
        note(NOTE)
        mask = uniform(tf.convert_to_tensor(shape)[-2:], seed=SEED, dtype=tf.float32, **algorithm)
        return tf.cast(tf.broadcast_to(mask, shape), dtype)

    if hasattr(nn_ops, "_dropout"):
        original = nn_ops._dropout

        def dropout(x: Any, rate: Any, noise_shape: Any, uniform_sampler: Any, *rest: Any, **named: Any) -> Any:
            return original(x, rate, noise_shape, sample, *rest, **named)

        nn_ops._dropout = dropout
    else:  # TF 1.15

        def dropout_v2(x: Any, rate: Any, noise_shape: Any = None, seed: Any = None, name: Any = None) -> Any:
            x = tf.convert_to_tensor(x)
            if isinstance(rate, (int, float)) and rate == 0:
                return x
            rate = tf.cast(rate, x.dtype)
            mask = sample(nn_ops._get_noise_shape(x, noise_shape), x.dtype) >= rate
            result = x / (1 - rate) * tf.cast(mask, x.dtype)
            result.set_shape(x.get_shape())
            return result

        nn_ops.dropout_v2 = dropout_v2

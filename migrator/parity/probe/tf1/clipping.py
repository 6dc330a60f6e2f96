"""`tf.contrib.estimator.clip_gradients_by_norm` for the old side, on the optimizers of TensorFlow 2's compat.v1."""

from __future__ import annotations

from typing import Any


def clip_gradients_by_norm(optimizer: Any, clip_norm: float) -> Any:
    """An optimizer that scales gradients to a global norm of at most `clip_norm` before `optimizer` applies them.

    After `tensorflow_estimator/contrib/estimator/python/estimator/extenders.py` of TensorFlow 1.15.
    """
    import tensorflow as tf

    class Clipped(tf.compat.v1.train.Optimizer):  # type: ignore[misc]
        def compute_gradients(self, *args: Any, **kwargs: Any) -> Any:
            return optimizer.compute_gradients(*args, **kwargs)

        def apply_gradients(self, grads_and_vars: Any, *args: Any, **kwargs: Any) -> Any:
            gradients, variables = zip(*grads_and_vars)
            gradients = tf.clip_by_global_norm(gradients, clip_norm)[0]
            return optimizer.apply_gradients(zip(gradients, variables), *args, **kwargs)

    return Clipped(False, "ClipByNorm" + optimizer.get_name())

"""`tf.contrib.opt.LazyAdamOptimizer` for graphs of TensorFlow 1."""

from __future__ import annotations

from typing import Any

import tensorflow as tf


class GraphLazyAdamOptimizer(tf.compat.v1.train.AdamOptimizer):
    """``tf.contrib.opt.LazyAdamOptimizer``: Adam that leaves rows and moments of ids outside the batch as they are."""

    def _resource_apply_sparse(self, grad: tf.Tensor, handle: Any, indices: tf.Tensor) -> tf.Operation:
        """Decay and move only the rows of the gradient, whose `indices` are unique."""
        hyperparameters = (*self._get_beta_accumulators(), self._lr_t, self._beta1_t, self._beta2_t, self._epsilon_t)
        numbers = [tf.cast(number, handle.dtype.base_dtype) for number in hyperparameters]
        beta1_power, beta2_power, rate, beta1, beta2, epsilon = numbers
        rate = rate * tf.sqrt(1.0 - beta2_power) / (1.0 - beta1_power)
        m, v = self.get_slot(handle, "m"), self.get_slot(handle, "v")
        m_rows = beta1 * tf.gather(m, indices) + (1.0 - beta1) * grad
        v_rows = beta2 * tf.gather(v, indices) + (1.0 - beta2) * tf.square(grad)
        step = rate * m_rows / (tf.sqrt(v_rows) + epsilon)
        return tf.group(
            m.scatter_update(tf.IndexedSlices(m_rows, indices)),
            v.scatter_update(tf.IndexedSlices(v_rows, indices)),
            handle.scatter_sub(tf.IndexedSlices(step, indices)),
        )

"""What optimizer classes of a program rely on that TensorFlow 2 does otherwise, in a graph, too."""

from __future__ import annotations

from typing import Any

import tensorflow as tf


class GraphOptimizer(tf.compat.v1.train.Optimizer):
    """``tf.compat.v1.train.Optimizer`` for classes that were written for the variables of TensorFlow 1.

    There a variable was a reference, for which the base class calls ``_apply_dense`` and ``_apply_sparse``. Here all
    variables are resources, for which it calls ``_resource_apply_dense`` and ``_resource_apply_sparse``; where a class
    has none of these it is asked for the others. What belongs to no variable, such as the powers of a decay, was found
    by its name and graph, and here by its name alone.
    """

    def _resource_apply_dense(self, grad: tf.Tensor, handle: tf.Variable) -> Any:
        return self._apply_dense(grad, handle)

    def _resource_apply_sparse(self, grad: tf.Tensor, handle: tf.Variable, indices: tf.Tensor) -> Any:
        return self._apply_sparse(tf.IndexedSlices(grad, indices, tf.shape(handle)), handle)

    def _get_non_slot_variable(self, name: str, graph: Any = None) -> Any:
        return super()._get_non_slot_variable(name)

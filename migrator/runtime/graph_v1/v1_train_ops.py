"""`create_train_op` of `tf.contrib.training` and of `tf.contrib.slim.learning`, for graphs of TensorFlow 1."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Callable

import tensorflow as tf

STEP_OF_GRAPH = 0
"""Stands for the global step of the graph."""


def create_train_op(
    total_loss: tf.Tensor,
    optimizer: Any,
    global_step: Any = STEP_OF_GRAPH,
    update_ops: Iterable[Any] | None = None,
    variables_to_train: Sequence[tf.Variable] | None = None,
    transform_grads_fn: Callable[[Sequence[tuple[Any, tf.Variable]]], Sequence[tuple[Any, tf.Variable]]] | None = None,
    summarize_gradients: bool = False,
    gate_gradients: int = 1,
    aggregation_method: int | None = None,
    colocate_gradients_with_ops: bool = False,
    check_numerics: bool = True,
) -> tf.Tensor:
    """Runs the update ops, then computes the loss and takes a step of an optimizer; returns the loss.

    Args:
      total_loss: a scalar.
      optimizer: of TensorFlow 1.
      global_step: counts the steps, by default the one of the graph; None: nothing counts.
      update_ops: by default the collection UPDATE_OPS.
      variables_to_train: by default all trainable variables.
      transform_grads_fn: edits the pairs of gradients and variables.
      summarize_gradients: whether to write a histogram and the norm of each gradient.
      gate_gradients, aggregation_method, colocate_gradients_with_ops: as in `compute_gradients`.
      check_numerics: whether to fail where the loss is infinite or no number.
    """
    v1 = tf.compat.v1
    if global_step is STEP_OF_GRAPH:
        global_step = v1.train.get_or_create_global_step()
    with tf.control_dependencies(list(v1.get_collection("update_ops") if update_ops is None else update_ops)):
        total_loss = tf.identity(total_loss)
    gating = {"gate_gradients": gate_gradients, "aggregation_method": aggregation_method}
    pairs = optimizer.compute_gradients(
        total_loss, variables_to_train, colocate_gradients_with_ops=colocate_gradients_with_ops, **gating
    )
    if transform_grads_fn is not None:
        pairs = transform_grads_fn(pairs)
    if summarize_gradients:
        summarize(pairs)
    step = optimizer.apply_gradients(pairs, global_step=global_step)
    if check_numerics:
        total_loss = tf.debugging.check_numerics(total_loss, "LossTensor is inf or nan")
    with tf.control_dependencies([step]):
        return tf.identity(total_loss)


def slim_create_train_op(
    total_loss: tf.Tensor,
    optimizer: Any,
    global_step: Any = STEP_OF_GRAPH,
    update_ops: Iterable[Any] | None = None,
    variables_to_train: Sequence[tf.Variable] | None = None,
    clip_gradient_norm: float = 0,
    summarize_gradients: bool = False,
    gate_gradients: int = 1,
    aggregation_method: int | None = None,
    colocate_gradients_with_ops: bool = False,
    gradient_multipliers: Mapping[str, Any] | None = None,
    check_numerics: bool = True,
) -> tf.Tensor:
    """`create_train_op`, with factors of gradients by the names of their variables, then a limit of the norm of each."""

    def edited(pairs: Sequence[tuple[Any, tf.Variable]]) -> Sequence[tuple[Any, tf.Variable]]:
        for name, factor in (gradient_multipliers or {}).items():
            pairs = [(each_value(g, lambda x: x * factor) if operation_name(v) == name else g, v) for g, v in pairs]
        if clip_gradient_norm > 0:
            pairs = [(each_value(g, lambda x: tf.clip_by_norm(x, clip_gradient_norm)), v) for g, v in pairs]
        return pairs

    return create_train_op(
        total_loss,
        optimizer,
        global_step,
        update_ops,
        variables_to_train,
        edited,
        summarize_gradients,
        gate_gradients,
        aggregation_method,
        colocate_gradients_with_ops,
        check_numerics,
    )


def each_value(gradient: Any, edit: Callable[[tf.Tensor], tf.Tensor]) -> Any:
    """A gradient whose values, those of its rows alone where it is sparse, are edited."""
    if isinstance(gradient, tf.IndexedSlices):
        return tf.IndexedSlices(edit(gradient.values), gradient.indices, gradient.dense_shape)
    return gradient if gradient is None else edit(gradient)


def summarize(pairs: Sequence[tuple[Any, tf.Variable]]) -> None:
    """Writes a histogram and the norm of each gradient."""
    with tf.name_scope("summarize_grads"):
        for gradient, variable in pairs:
            if gradient is not None:
                values = gradient.values if isinstance(gradient, tf.IndexedSlices) else gradient
                tf.compat.v1.summary.histogram(f"{operation_name(variable)}/gradient", values)
                tf.compat.v1.summary.scalar(
                    f"{operation_name(variable)}/gradient_norm", tf.linalg.global_norm([values])
                )


def operation_name(variable: tf.Variable) -> str:
    """The name that the operation of a variable has in TensorFlow 1."""
    return str(variable.name).split(":")[0]

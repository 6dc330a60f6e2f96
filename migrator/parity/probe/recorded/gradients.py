"""How large the gradients are that optimizers of the old side apply: one of zero is what rounding leaves of it."""

from __future__ import annotations

from typing import Any

_APPLIED: dict[int, list[tuple[Any, Any]]] = {}
"""Gradients with their variables, by the graph that they are in."""


def install() -> None:
    """Remember what `tf.train.Optimizer.apply_gradients` is given, but on replicas and by classes that have their own."""
    import tensorflow as tf

    base: Any = tf.compat.v1.train.Optimizer
    apply_gradients = base.apply_gradients

    def watched(self: Any, grads_and_vars: Any, *args: Any, **named: Any) -> Any:
        pairs = list(grads_and_vars)
        if not tf.distribute.has_strategy():
            _APPLIED.setdefault(id(tf.compat.v1.get_default_graph()), []).extend(pairs)
        return apply_gradients(self, pairs, *args, **named)

    base.apply_gradients = watched


def sizes(graph: Any) -> dict[str, Any]:
    """The largest absolute value of each gradient, by the op of its variable. Adds to the graph.

    Those in a branch of ``tf.cond`` or in a loop are left out: they need not have a value in a step.
    """
    import tensorflow as tf

    found: dict[str, Any] = {}
    for gradient, variable in _APPLIED.pop(id(graph), ()):
        values = gradient.values if isinstance(gradient, tf.IndexedSlices) else gradient
        if values is not None and values.graph is graph and values.op._get_control_flow_context() is None:
            size = tf.reduce_max(tf.abs(tf.concat([tf.reshape(values, [-1]), tf.zeros([1], values.dtype)], axis=0)))
            name = variable.op.name
            found[name] = size if name not in found else tf.maximum(size, found[name])
    return found

"""What a worker of a cluster with parameter servers runs at one order of its chief: several steps, in few messages.

Between processes each value is a message, which takes longer than most of what a small model computes. In each step
Keras would send the learning rate once for each variable, the mean of the loss to the server that keeps it, and to all
servers that the loop over the steps goes on.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any, Callable

import tensorflow as tf

MOST_NODES = 4000
"""Size of a graph up to which several steps are written out, one after the other, for one turn of the loop."""
RATES = ("_learning_rate", "_current_learning_rate", "beta1_power", "beta2_power")
"""Attributes of optimizers that the update of each variable reads."""


def order_of(model: tf.keras.Model, steps: int) -> Callable[[Any], dict[str, tf.Tensor]]:
    """A function of an iterator, which trains on `steps` batches of it.

    Returns as `loss` that of the last step, or NaN if one of them was; the metric of this name holds it, too.
    """
    losses = [metric for metric in model.metrics if metric.name == "loss"]
    nodes = [model.optimizer, *tf.train.TrackableView(model).descendants()]
    optimizers = {id(node): node for node in nodes if isinstance(node, tf.keras.optimizers.Optimizer)}

    def step(iterator: Any) -> tf.Tensor:
        batch = next(iterator)
        with contextlib.ExitStack() as stack:
            for metric in losses:
                stack.enter_context(holding_last(metric))
            for optimizer in optimizers.values():
                stack.enter_context(reading_once(optimizer))
            logs = model.distribute_strategy.run(model.train_step, args=(batch,))
        return tf.cast(logs["loss"], tf.float32)

    def run_steps(iterator: Any) -> dict[str, tf.Tensor]:
        def run_some(done: tf.Tensor, loss: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
            loss = tf.where(tf.math.is_nan(loss), loss, step(iterator))
            at_once = largest_divisor(steps, MOST_NODES // size_of(tf.compat.v1.get_default_graph()))
            for _ in range(at_once - 1):
                loss = tf.where(tf.math.is_nan(loss), loss, step(iterator))
            return done + at_once, loss

        _, loss = tf.while_loop(lambda done, _: done < steps, run_some, (tf.constant(0), tf.constant(0.0)))
        for metric in losses:
            metric.total.assign(tf.cast(loss, metric.total.dtype))
            metric.count.assign(1)
        return {"loss": loss}

    order: Callable[[Any], dict[str, tf.Tensor]] = tf.function(run_steps)
    return order


def largest_divisor(number: int, most: int) -> int:
    """The largest divisor of `number` that is at most `most`; at least 1."""
    return max(divisor for divisor in range(1, max(1, min(number, most)) + 1) if number % divisor == 0)


def size_of(graph: Any) -> int:
    """Nodes of a graph, and of the functions that it calls."""
    definition = graph.as_graph_def()
    return len(definition.node) + sum(len(function.node_def) for function in definition.library.function)


@contextlib.contextmanager
def holding_last(metric: tf.keras.metrics.Mean) -> Iterator[None]:
    """In this block, which a function traces, a mean is the last value that it got; its variables are left alone."""
    methods, values = {name: getattr(metric, name) for name in ("update_state", "result")}, []
    vars(metric)["update_state"] = lambda value, *_, **__: values.append(tf.reduce_mean(value))
    vars(metric)["result"] = lambda: values[-1] if values else methods["result"]()
    try:
        yield
    finally:
        vars(metric).update(methods)


@contextlib.contextmanager
def reading_once(optimizer: Any) -> Iterator[None]:
    """In this block, which a function traces, each application of gradients reads the rates of an optimizer once."""
    apply = optimizer._internal_apply_gradients

    def apply_with_rates(grads_and_vars: Any) -> Any:
        rates = {name: vars(optimizer)[name] for name in RATES if isinstance(vars(optimizer).get(name), tf.Variable)}
        vars(optimizer).update({name: tf.identity(rate) for name, rate in rates.items()})
        try:
            return apply(grads_and_vars)
        finally:
            vars(optimizer).update(rates)

    vars(optimizer)["_internal_apply_gradients"] = apply_with_rates
    try:
        yield
    finally:
        del vars(optimizer)["_internal_apply_gradients"]

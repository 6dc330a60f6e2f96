"""A `model_fn` of TensorFlow 1 on several replicas: in one graph, as an Estimator built it for its strategy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Callable

import tensorflow as tf

from migrator.runtime.cluster.v1_partitions import remember_slice
from migrator.runtime.graph_v1.v1_initial_values import outside


def call_all(strategy: tf.distribute.Strategy, model_fn: Callable[[Sequence[Any]], Any], flat: Sequence[Any]) -> Any:
    """Calls `model_fn` for each replica of this process, with its part of `flat`: the batch of one after that of another.

    Returns the spec of the first one, with the losses of all as a vector, and with the train ops of all.
    """
    width = len(flat) // len(strategy.extended.worker_devices)
    batches = [flat[start : start + width] for start in range(0, len(flat), width)]
    specs: list[Any] = []

    @tf.autograph.experimental.do_not_convert  # type: ignore[untyped-decorator]
    def on_replica() -> Any:
        spec = model_fn(batches.pop(0))  # replicas begin one after the other
        specs.append(spec)
        return spec.train_op

    train_op = strategy.group(strategy.extended.call_for_each_replica(on_replica))
    return specs[0]._replace(loss=tf.stack([tf.reshape(spec.loss, []) for spec in specs]), train_op=train_op)


def in_turn(run: Callable[[Sequence[Any]], Any], tensors: Sequence[Any]) -> Any:
    """In a replica that has its batch: `run` on the batches of all replicas of this process; the loss of this one."""
    replica = tf.distribute.get_replica_context()
    replicas = len(replica.strategy.extended.worker_devices)

    @tf.autograph.experimental.do_not_convert  # type: ignore[untyped-decorator]
    def run_together(strategy: tf.distribute.Strategy, tensors: Sequence[Any]) -> Any:
        columns = [strategy.experimental_local_results(tensor) for tensor in tensors]
        # Where variables are made before there are data, one batch stands for all.
        batches = [[column[number % len(column)] for column in columns] for number in range(replicas)]
        return run([tensor for batch in batches for tensor in batch])

    losses = replica.merge_call(run_together, args=(list(tensors),))
    return losses[replica.replica_id_in_sync_group % replicas]


def spec_of_one(spec: Any) -> Any:
    """The types of the batch of one replica, from those of the batches of several."""
    return tf.nest.map_structure(lambda part: getattr(part, "_value_specs", [part])[0], spec)


def step_on(strategy: tf.distribute.Strategy, mode: str, step: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A step on what an iterator gives for all replicas: all of them train, with the logs of the first; it alone evaluates."""
    if strategy.num_replicas_in_sync == 1:
        return step

    def of_first(value: Any) -> Any:
        return tf.nest.map_structure(lambda part: strategy.experimental_local_results(part)[0], value)

    if mode == "train":
        return lambda data: of_first(strategy.run(step, args=(data,)))
    return lambda data: step(of_first(data))


def first_copy(strategy: tf.distribute.Strategy, variable: tf.Variable) -> tf.Variable:
    """The copy of a variable on the first replica, which belongs to no strategy any more: to optimizers of TensorFlow 1."""
    (first, *_) = strategy.experimental_local_results(variable)
    if first is variable:
        return variable
    alone: tf.Variable = object.__new__(type(first))  # the handle of the other one is marked as that of a copy
    alone.__dict__.update(vars(first), _handle=outside(tf.identity, first.handle))
    alone.handle._handle_data = first.handle._handle_data
    return alone


def as_in_graph(strategy: tf.distribute.Strategy, variable: tf.Variable) -> None:
    """Gives a variable, and its copies on replicas, what a `model_fn` finds in those of a graph."""
    for copy in (variable, *strategy.experimental_local_results(variable)):
        remember_slice(copy)
        copy.initialized_value = copy.read_value  # for variables that start from it

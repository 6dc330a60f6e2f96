"""The values that variables of a TensorFlow 1 graph start with, computed apart from that graph."""

from __future__ import annotations

import concurrent.futures
import functools
from typing import Any, Callable

import tensorflow as tf


def outside(function: Callable[..., Any], *args: Any, **named: Any) -> Any:
    """Calls `function` apart from whatever graph is being built: what that is, belongs to the thread."""
    with concurrent.futures.ThreadPoolExecutor(1) as thread:
        return thread.submit(function, *args, **named).result()


def outermost_graph(graph: Any) -> Any:
    """The graph that `graph`, which may be that of a branch, is a part of."""
    around = getattr(graph, "outer_graph", None)
    return outermost_graph(around) if getattr(around, "building_function", False) else graph


def unique_name(graph: Any, name: str) -> str:
    """The name of a variable that code in `graph` makes: a branch has no names of its own in TensorFlow 1."""
    if outermost_graph(graph) is graph:
        return str(graph.unique_name(name))
    name = graph.unique_name(name, mark_as_used=False)
    with outermost_graph(graph).name_scope(None):
        return str(outermost_graph(graph).unique_name(name))


def drawn_anew(value: Any) -> Any:
    """`value`, which makes what a variable starts with, by an initializer of its own: one object of Keras gives the same values
    each time."""
    made_by = getattr(value, "func", None)  # of a functools.partial with the shape
    if not isinstance(made_by, tf.keras.initializers.Initializer):
        return value
    return functools.partial(type(made_by).from_config(made_by.get_config()), *value.args, **value.keywords)


def initial_value(graph: Any, value: Any) -> Any:
    """The value that a variable starts with; a tensor of the graph under construction is computed on its own.

    Where it depends on other variables, these have their initial values as yet.
    """
    if callable(value):
        return outside(drawn_anew(value))
    known = tf.get_static_value(value) if tf.is_tensor(value) else value
    if known is not None:
        return known
    part = tf.compat.v1.graph_util.extract_sub_graph(graph.as_graph_def(), [value.op.name])
    handles = {inner.ref(): handle for handle, inner in graph.captures}
    given = {}
    for node in part.node:
        if node.op == "ReadVariableOp":
            read = graph.get_operation_by_name(node.name)
            handle, (output,) = handles[read.inputs[0].ref()], read.outputs
            given[output.name] = outside(tf.raw_ops.ReadVariableOp, resource=handle, dtype=output.dtype).numpy()
    with tf.Graph().as_default() as alone, tf.compat.v1.Session(graph=alone) as session:
        constants = {name: tf.constant(number) for name, number in given.items()}
        (tensor,) = tf.import_graph_def(part, constants, [value.name], name="")
        return session.run(tensor)

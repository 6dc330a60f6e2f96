"""What graphs of TensorFlow 1 do, and functions of TensorFlow 2 do not."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from typing import Any

import tensorflow as tf

from migrator.runtime.graph_v1.v1_initial_values import outermost_graph


@contextlib.contextmanager
def graph_behavior() -> Iterator[None]:
    """Around the making of a graph: `==` and `in` ask for the same tensor, optimizers work in branches, and each variable
    is regularized once.

    A branch of ``tf.cond`` is a graph of its own in TensorFlow 2, in which the loss cannot be differentiated; they do that
    in the graph of the loss.
    """
    optimizer = tf.compat.v1.train.Optimizer
    compute_gradients = optimizer.compute_gradients

    def compute_outside(self: Any, loss: Any, *args: Any, **named: Any) -> Any:
        with getattr(loss, "graph", tf.compat.v1.get_default_graph()).as_default():
            return compute_gradients(self, loss, *args, **named)

    optimizer.compute_gradients = compute_outside
    try:
        with layers_of_whole_graph(), regularizers_of_new_variables(), tensors_as_keys():
            yield
    finally:
        optimizer.compute_gradients = compute_gradients


@contextlib.contextmanager
def tensors_as_keys() -> Iterator[None]:
    """Around code that is written for a session: tensors and variables are compared by identity, and may be fed by a dict."""
    tf.compat.v1.disable_tensor_equality()
    try:
        yield
    finally:
        tf.compat.v1.enable_tensor_equality()


@contextlib.contextmanager
def layers_of_whole_graph() -> Iterator[None]:
    """Lets layers in the body of a loop be what they are around it.

    Keras 2 has two classes of layers, and takes the body of a loop in a graph for TensorFlow 2: a layer made there by a
    recurrent cell would exchange the base of all classes, that of the cell which is being called among them.
    """
    selectors = [base for base in tf.keras.layers.Layer.__mro__ if base.__name__ == "LayerVersionSelector"]
    if not selectors:  # Keras 3
        yield
        return
    versions: Any = sys.modules[selectors[0].__module__]
    should_use_v2 = versions.should_use_v2

    def for_whole_graph() -> bool:
        graph: Any = tf.compat.v1.get_default_graph()
        while graph is not None:
            if getattr(graph, "name", "").startswith("wrapped_function"):
                return False
            graph = getattr(graph, "outer_graph", None)
        return bool(should_use_v2())

    versions.should_use_v2 = for_whole_graph
    try:
        yield
    finally:
        versions.should_use_v2 = should_use_v2


@contextlib.contextmanager
def regularizers_of_new_variables() -> Iterator[None]:
    """Lets layers regularize the variables that they make, and not those that they reuse.

    Graphs of TensorFlow 1 ask whether a variable is new; functions of TensorFlow 2 do not, and so would add the term of a
    shared variable once for each layer that uses it.
    """
    if hasattr(tf.keras, "ops"):  # Keras 3 has no layers of TensorFlow 1
        yield
        return
    layer = tf.compat.v1.layers.Layer
    add_weight = layer.add_weight

    def add(
        self: Any,
        name: str,
        shape: Any,
        dtype: Any = None,
        initializer: Any = None,
        regularizer: Any = None,
        *args: Any,
        **named: Any,
    ) -> Any:
        graph = outermost_graph(tf.compat.v1.get_default_graph())
        known = {id(variable) for variable in graph.get_collection(tf.compat.v1.GraphKeys.GLOBAL_VARIABLES)}

        def term(variable: Any) -> Any:
            return None if id(variable) in known else regularizer(variable)

        return add_weight(self, name, shape, dtype, initializer, regularizer and term, *args, **named)

    layer.add_weight = add
    try:
        yield
    finally:
        layer.add_weight = add_weight

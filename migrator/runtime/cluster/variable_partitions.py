"""Variables in parts on parameter servers, as the scope in which a model makes them says."""

from __future__ import annotations

import contextlib
import contextvars
from collections.abc import Iterator, Sequence
from typing import Any

import tensorflow as tf

PARTITIONER: contextvars.ContextVar[Any] = contextvars.ContextVar("partitioner", default=None)


def partition_by_scope(shape: tf.TensorShape, dtype: tf.DType) -> Sequence[int]:
    """The `variable_partitioner` of a strategy that splits variables made under `partitioned` and no others.

    Returns the number of parts along each dimension of the shape.
    """
    partitioner = PARTITIONER.get()
    return [1] * (shape.rank or 0) if partitioner is None else partitioner(shape=shape, dtype=dtype)


@contextlib.contextmanager
def splitting(partitioner: Any) -> Iterator[None]:
    """Sets the partitioner of the variables that are made in this block, or in a function that it decorates."""
    token = PARTITIONER.set(partitioner)
    try:
        yield
    finally:
        PARTITIONER.reset(token)


@contextlib.contextmanager
def partitioned(owner: tf.keras.layers.Layer, partitioner: Any) -> Iterator[None]:
    """Lets `partitioner` split the weights that `owner` makes in this block, and those of layers that it gets in it.

    This is `tf.compat.v1.variable_scope(partitioner=...)`: the innermost one counts, and None changes nothing.
    """
    if partitioner is None:
        yield
        return
    known = {id(layer) for layer in owner._flatten_layers(include_self=False)}
    with splitting(partitioner):
        yield
    for layer in owner._flatten_layers(include_self=False):
        if id(layer) not in known:  # its weights are made later, when it is built
            layer.build = splitting(partitioner)(layer.build)

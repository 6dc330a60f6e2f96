"""Input functions whose placeholders a function feeds."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any, Callable

import tensorflow as tf


def fed_input(input_fn: Callable[..., Any], feed_fn: Callable[[], dict[Any, Any]]) -> Callable[..., tf.data.Dataset]:
    """An `input_fn` that returns a dataset: its tensors, with their placeholders fed anew for each batch.

    `feed_fn` returns the values by placeholder or name, or raises OutOfRangeError or StopIteration where the data end.
    """

    @functools.wraps(input_fn)
    def dataset_fn(*args: Any, **kwargs: Any) -> tf.data.Dataset:
        with tf.Graph().as_default() as graph:
            structure = input_fn(*args, **kwargs)
            session = tf.compat.v1.Session(graph=graph)
            session.run([tf.compat.v1.global_variables_initializer(), tf.compat.v1.tables_initializer()])
        tensors = tf.nest.flatten(structure, expand_composites=True)

        def batches() -> Iterator[tuple[Any, ...]]:
            while True:
                with graph.as_default():  # in which tensors are keys of dicts
                    try:
                        values = session.run(tensors, feed_fn())
                    except (tf.errors.OutOfRangeError, StopIteration):
                        return
                yield tuple(values)

        options = tf.data.Options()
        options.experimental_optimization.inject_prefetch = False  # nothing is fed before its step
        specs = tuple(tf.TensorSpec(tensor.shape, tensor.dtype) for tensor in tensors)
        dataset = tf.data.Dataset.from_generator(batches, output_signature=specs).with_options(options)
        return dataset.map(lambda *values: tf.nest.pack_sequence_as(structure, values, expand_composites=True))

    return dataset_fn

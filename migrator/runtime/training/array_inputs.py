"""Input functions on arrays and data frames."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Callable

import numpy as np
import tensorflow as tf


def numpy_input_fn(
    x: Any,
    y: Any = None,
    batch_size: int = 128,
    num_epochs: int | None = 1,
    shuffle: bool | None = None,
    queue_capacity: int = 1000,
    num_threads: int = 1,
) -> Callable[[], tf.data.Dataset]:
    """``estimator.inputs.numpy_input_fn``: batches of an array, or of a dict of arrays of equal length.

    Args:
        x: features.
        y: labels: an array, or a dict of arrays; None: there are none.
        batch_size: size of all batches but the last; batches run across the ends of epochs.
        num_epochs: how often the data are read, by each thread; None: without end.
        shuffle: whether to shuffle; has to be given.
        queue_capacity: among how many examples each is chosen, with `shuffle`.
        num_threads: without an effect on speed.
    """
    if not isinstance(shuffle, bool):
        raise ValueError(f"shuffle must be given as True or False (True is recommended for training), given: {shuffle}")

    def input_fn() -> tf.data.Dataset:
        data = x if y is None else (x, y)
        arrays = tf.nest.flatten(data)
        if len({len(array) for array in arrays}) != 1:
            raise ValueError(f"x and y differ in length: {[len(array) for array in arrays]}")
        dataset = tf.data.Dataset.from_tensor_slices(tf.nest.map_structure(np.asarray, data))
        dataset = dataset.repeat(None if num_epochs is None else num_epochs * num_threads)
        return (dataset.shuffle(queue_capacity) if shuffle else dataset).batch(batch_size)

    return input_fn


def pandas_input_fn(
    x: Any,
    y: Any = None,
    batch_size: int = 128,
    num_epochs: int | None = 1,
    shuffle: bool | None = None,
    queue_capacity: int | None = 1000,
    num_threads: int = 1,
    target_column: str = "target",
) -> Callable[[], tf.data.Dataset]:
    """``estimator.inputs.pandas_input_fn``: batches of a data frame, as a dict of its columns.

    Args:
        x: data frame of features.
        y: series or data frame of labels, with the same index; None: there are none.
        queue_capacity: see `numpy_input_fn`; None: four times the number of examples.
        target_column: must not be a column of `x`, if there are labels.
        others: see `numpy_input_fn`.
    """
    labels = y
    if y is not None:
        if target_column in x:
            raise ValueError(f"{target_column!r} is a column of x as well; give another target_column")
        if not np.array_equal(x.index, y.index):
            raise ValueError("the indexes of x and y differ")
        labels = {name: y[name].to_numpy() for name in y} if getattr(y, "ndim", 1) == 2 else y.to_numpy()
    features: Mapping[Any, Any] = {name: x[name].to_numpy(copy=True) for name in x}
    capacity = 4 * len(x) if queue_capacity is None else queue_capacity
    return numpy_input_fn(features, labels, batch_size, num_epochs, shuffle, capacity, num_threads)

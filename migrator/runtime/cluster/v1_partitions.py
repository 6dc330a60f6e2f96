"""Partitioned variables of a graph: how their parts start, and checkpoints that have other parts, such as an evaluator's."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np
import tensorflow as tf

from migrator.runtime.graph_v1.v1_checkpoints import part_of, saved_keys
from migrator.runtime.training.messages import log_info

WHOLES = (tf.keras.initializers.Orthogonal, tf.keras.initializers.Identity)
"""Initializers that know no parts."""
BY_PLACE = ("shape", "dtype", "initializer", "regularizer", "trainable", "collections", "caching_device", "partitioner")
"""The arguments behind the name that a `custom_getter` of the program may hand on by their places."""


def start_as_parts(getter: Any, name: str, *placed: Any, **arguments: Any) -> Any:
    """A `custom_getter` that lets parts of a variable start as parts of the whole, which layers leave to Keras otherwise.

    In TensorFlow 2, `tf.compat.v1.layers` take the initializers of Keras, which then see a part as a variable of its own:
    all parts got the same values, as wide as a part is.
    """
    arguments.update(zip(BY_PLACE, placed))
    given = arguments.get("initializer")
    if arguments.get("partitioner") is not None and isinstance(given, tf.keras.initializers.Initializer):
        arguments["initializer"] = of_whole(given)
    return getter(name, **arguments)


def start_whole(getter: Any, name: str, *placed: Any, **arguments: Any) -> Any:
    """A `custom_getter` without partitioners: the scope of a strategy whose replicas all hold all variables drops them."""
    arguments.update(zip(BY_PLACE, placed))
    arguments.pop("partitioner", None)
    return getter(name, **arguments)


def of_whole(initializer: Any) -> Any:
    """An initializer of Keras as one of TensorFlow 1, which is told what a part is a part of."""
    if isinstance(initializer, tf.keras.initializers.VarianceScaling):
        scaling = tf.compat.v1.initializers.variance_scaling
        return scaling(initializer.scale, initializer.mode, initializer.distribution, initializer.seed)

    def values(shape: Any, dtype: Any = None, partition_info: Any = None) -> tf.Tensor:
        if partition_info is None or isinstance(initializer, WHOLES):
            return initializer(shape, dtype)
        return initializer(shape, dtype, partition_shape=shape, partition_offset=tuple(partition_info.var_offset))

    return values


def restore_any_parts(model: Any) -> None:
    """Lets a `GraphModel` load variables as wholes where the checkpoint has them in other parts, as TensorFlow 1 did.

    The number of parts may go by that of parameter servers, of which an evaluator or a later process sees none.
    """
    checkpoints = model.run_state.checkpoints
    restore = checkpoints.restore

    def restore_parts(path: str | None = None, with_optimizer: bool = False) -> None:
        path = path or checkpoints.newest()
        if path in (None, checkpoints.held):
            return
        variables = {"global_step": model.global_step, **model.tf1_variables}
        keys, reader = saved_keys(path), tf.train.load_checkpoint(path)
        shapes = reader.get_variable_to_shape_map()
        same = all(name in keys and shapes[keys[name]] == v.shape.as_list() for name, v in variables.items())
        same = same or "_CHECKPOINTABLE_OBJECT_GRAPH" not in shapes  # of TensorFlow 1, which `restore` refuses
        values = {} if same else {name: saved_value(reader, keys, variables, name) for name in variables}
        if not values or any(value is None for value in values.values()):
            restore(path, with_optimizer)  # which says what is missing
            return
        log_info("Restoring parameters from %s", path)
        for name, variable in variables.items():
            variable.assign(values[name])
        checkpoints.held = path if with_optimizer else None

    checkpoints.restore = restore_parts


def saved_value(reader: Any, keys: Mapping[str, str], variables: Mapping[str, tf.Variable], name: str) -> Any:
    """The value of one of `variables` in a checkpoint, with its parts shared out anew; None if it is not there."""
    shape, part = variables[name].shape.as_list(), None
    inside = re.fullmatch(r"(.+/part_\d+)(/.+)?", name)
    if inside and inside[1] in variables:  # a part, or a slot of one
        info = variables[inside[1]]._get_save_slice_info()
        if info and list(info.var_shape) == shape:
            part, name, shape = info, info.full_name + (inside[2] or ""), list(info.full_shape)
    pieces: dict[int, Any] = {}
    for saved, key in keys.items():
        found = re.fullmatch(r"(.+)/part_(\d+)(/.+)?", saved)
        if saved == name:
            pieces = {0: reader.get_tensor(key)}
            break
        if found and found[1] + (found[3] or "") == name:
            pieces[int(found[2])] = reader.get_tensor(key)
    if not pieces:
        return None
    arrays = [pieces[number] for number in sorted(pieces)]
    axis = next((n for n, size in enumerate(shape) if arrays[0].shape[n] != size), 0)
    value = np.concatenate(arrays, axis) if len(arrays) > 1 else arrays[0]
    if list(value.shape) != shape:
        return None
    return value if part is None else part_of(value, part)


def remember_slice(variable: tf.Variable) -> None:
    """Lets a variable be a part of a partitioned one, while optimizers of TensorFlow 1 see it as any other variable.

    They would look for the operation of the variable, to name a slot by it; outside of a graph there is none.
    """
    slices: list[Any] = []
    variable._set_save_slice_info = slices.append
    variable._get_save_slice_info = lambda: slices[-1] if slices else None

"""Checkpoints as graphs of TensorFlow 1 know them: by the names of variables, whichever version wrote them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import tensorflow as tf
from tensorflow.core.protobuf.trackable_object_graph_pb2 import TrackableObjectGraph

from migrator.runtime.checkpoints.checkpoint_names import keys_by_name
from migrator.runtime.graph_v1.v1_initial_values import outside


def saved_keys(path: str) -> dict[str, str]:
    """The key of each variable of a checkpoint, by the name of the variable."""
    reader = tf.train.load_checkpoint(path)
    if not reader.has_tensor("_CHECKPOINTABLE_OBJECT_GRAPH"):  # TensorFlow 1 has names alone
        return {name: name for name in reader.get_variable_to_shape_map()}
    graph = TrackableObjectGraph.FromString(reader.get_tensor("_CHECKPOINTABLE_OBJECT_GRAPH"))
    return {part.full_name: part.checkpoint_key for node in graph.nodes for part in node.attributes}


def newest_checkpoint(model: Any) -> str:
    """The path of the newest checkpoint of a model. ValueError if there is none."""
    path: str | None = model.run_state.checkpoints.newest()
    if path is None:
        raise ValueError(f"There is no checkpoint in {model.run_config.model_dir}.")
    return path


def part_of(value: Any, part: Any) -> Any:
    """What the save slice info of a part of a variable says is its own of the value of the whole."""
    return value[tuple(slice(o, o + n) for o, n in zip(part.var_offset, part.var_shape))]


def init_graph_from_checkpoint(checkpoint: str, assignment_map: Mapping[str, Any]) -> None:
    """Does `tf.compat.v1.train.init_from_checkpoint` in a `model_fn`: gives new variables the values of a checkpoint.

    `assignment_map` leads from names, or from scopes that end in a slash, to variables, their names, or scopes.
    """
    reader, keys = tf.train.load_checkpoint(checkpoint), keys_by_name(checkpoint)
    new: dict[str, list[tf.Variable]] = {}  # by name, that of the whole for the parts of a partitioned variable
    for variable in tf.compat.v1.get_collection("new_variables"):
        part = variable._get_save_slice_info()
        new.setdefault(part.full_name if part else variable.name.partition(":")[0], []).append(variable)
    for old, target in assignment_map.items():
        if isinstance(target, str) and target.endswith("/"):
            inside = target.lstrip("/")
            pairs = {old.lstrip("/") + name[len(inside) :]: name for name in new if name.startswith(inside)}
        elif isinstance(target, list):  # parts
            pairs = {old: target[0]._get_save_slice_info().full_name}
        else:
            pairs = {old: target if isinstance(target, str) else target.name.partition(":")[0]}
        for source, name in pairs.items():
            for variable in new.get(name, ()):  # the others have been trained since
                value, part = reader.get_tensor(keys.get(source, source)), variable._get_save_slice_info()
                if part:
                    value = part_of(value, part)
                outside(variable.assign, value)

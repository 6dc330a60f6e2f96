"""The variables of a checkpoint of a `GraphModel`, by their names in TensorFlow 1."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from migrator.runtime.graph_v1.v1_checkpoints import newest_checkpoint
from migrator.runtime.graph_v1.v1_graph import GraphModel


def get_variable_names(model: GraphModel) -> list[str]:
    """Names of what the newest checkpoint holds: weights, slots of optimizers, the global step."""
    return sorted(saved_variables(model)[1])


def get_variable_value(model: GraphModel, name: str) -> Any:
    """The value of a variable in the newest checkpoint: an array, or a NumPy number. KeyError if it has no such variable."""
    reader, keys = saved_variables(model)
    return reader.get_tensor(keys[name])


def saved_variables(model: GraphModel) -> tuple[Any, dict[str, str]]:
    """The newest checkpoint, and the keys of its variables by their names. ValueError if there is no checkpoint."""
    reader = tf.train.load_checkpoint(newest_checkpoint(model))
    keys = {}
    for key in reader.get_variable_to_shape_map():
        owner, _, rest = key.partition("/.ATTRIBUTES/VARIABLE_VALUE")[0].partition("/tf1_variables/")
        if owner == "model" and rest and "/" not in rest:
            keys[rest.replace(".S", "/").replace("..", ".")] = key
        elif key.startswith("model/global_step/"):
            keys["global_step"] = key
    return reader, keys

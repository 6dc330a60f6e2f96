"""The names that weights had in TensorFlow 1, in the checkpoints of a model, and checkpoints read by these names."""

from __future__ import annotations

import functools
import json
from typing import Any

import tensorflow as tf
from tensorflow.core.protobuf.trackable_object_graph_pb2 import TrackableObjectGraph

from migrator.runtime.checkpoints.weight_names import named_weights


class NamesInCheckpoint(tf.train.experimental.PythonState):
    """Puts the names that weights had in TensorFlow 1 into a checkpoint, each with the attributes that lead to the weight."""

    def __init__(self, model: tf.keras.Model, checkpoint: tf.train.Checkpoint) -> None:
        super().__init__()
        self.model, self.checkpoint = model, checkpoint

    def serialize(self) -> str:
        view = tf.train.TrackableView(self.checkpoint)
        paths: dict[int, list[str]] = {}
        waiting: list[tuple[Any, list[str]]] = [(self.checkpoint, [])]
        while waiting:
            node, path = waiting.pop(0)
            if id(node) not in paths:
                paths[id(node)] = path
                waiting += [(child, [*path, name]) for name, child in view.children(node).items()]
        named = dict(named_weights(self.model, [*self.model.tf1_names.items()]))
        named["global_step"] = self.model.optimizer.iterations
        return json.dumps({name: paths[id(held)] for name, held in named.items()})

    def deserialize(self, string_value: str) -> None:
        """The model knows its names."""


def keep_names(model: tf.keras.Model) -> tf.keras.Model:
    """`model`, whose checkpoints hold the names of `model.tf1_names`, by which other models find its weights there."""
    checkpoint = model.run_state.checkpoints.checkpoint
    checkpoint.tf1_names = NamesInCheckpoint(model, checkpoint)
    return model


def keys_by_name(path: str) -> dict[str, str]:
    """The keys of the variables of a checkpoint by their names in TensorFlow 1, whichever program wrote it.

    Of a model of layers these are its weights and the global step, not the state of its optimizer.

    Raises:
      ValueError: it is the checkpoint of a model of layers without `keep_names`.
    """
    reader = tf.train.load_checkpoint(path)
    if not reader.has_tensor("_CHECKPOINTABLE_OBJECT_GRAPH"):  # TensorFlow 1 has names alone
        return {name: name for name in reader.get_variable_to_shape_map()}
    graph = TrackableObjectGraph.FromString(reader.get_tensor("_CHECKPOINTABLE_OBJECT_GRAPH"))
    children = [{child.local_name: child.node_id for child in node.children} for node in graph.nodes]
    if "tf1_names" not in children[0]:
        if "model" in children[0] and "tf1_variables" not in children[children[0]["model"]]:  # which graphs have
            raise ValueError(
                f"{path} has no names of TensorFlow 1, as the model that wrote it does not keep them: migrate its program "
                "together with this one, or give that model `tf1_names` and call `keep_names(model)` before it trains."
            )
        return {
            part.full_name: part.checkpoint_key for node in graph.nodes for part in node.attributes if part.full_name
        }
    (names,) = graph.nodes[children[0]["tf1_names"]].attributes
    keys = {}
    for name, path_to_weight in json.loads(reader.get_tensor(names.checkpoint_key)).items():
        (value,) = graph.nodes[functools.reduce(lambda node, part: children[node][part], path_to_weight, 0)].attributes
        keys[name] = value.checkpoint_key
    return keys


def list_variables(ckpt_dir_or_file: str) -> list[tuple[str, list[int]]]:
    """The names and shapes of the variables of a checkpoint, or of the newest one in a folder, ordered by name."""
    shapes = tf.train.load_checkpoint(ckpt_dir_or_file).get_variable_to_shape_map()
    return [(name, shapes[key]) for name, key in sorted(keys_by_name(ckpt_dir_or_file).items())]


def load_variable(ckpt_dir_or_file: str, name: str) -> Any:
    """The value of one variable of a checkpoint, as a NumPy array."""
    return tf.train.load_variable(ckpt_dir_or_file, keys_by_name(ckpt_dir_or_file).get(name, name))


class CheckpointReader:
    """Reads variables of a checkpoint by their names in TensorFlow 1, with the methods of `tf.train.load_checkpoint`."""

    def __init__(self, path: str) -> None:
        self.reader, self.keys = tf.train.load_checkpoint(path), keys_by_name(path)

    def has_tensor(self, name: str) -> bool:
        return name in self.keys

    def get_tensor(self, name: str) -> Any:
        """The value as a NumPy array. NotFoundError if there is none."""
        return self.reader.get_tensor(self.keys.get(name, name))

    def get_variable_to_shape_map(self) -> dict[str, list[int]]:
        shapes = self.reader.get_variable_to_shape_map()
        return {name: shapes[key] for name, key in self.keys.items()}

    def get_variable_to_dtype_map(self) -> dict[str, tf.DType]:
        dtypes = self.reader.get_variable_to_dtype_map()
        return {name: dtypes[key] for name, key in self.keys.items()}


def load_checkpoint(ckpt_dir_or_file: str) -> CheckpointReader:
    """What reads the variables of a checkpoint, or of the newest one in a folder, by their names in TensorFlow 1."""
    return CheckpointReader(ckpt_dir_or_file)

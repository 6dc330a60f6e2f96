"""The names that weights had in TensorFlow 1, in the checkpoints of a model, and checkpoints read by these names."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

import tensorflow as tf
from tensorflow.core.protobuf.trackable_object_graph_pb2 import TrackableObjectGraph


class NamesInCheckpoint(tf.train.experimental.PythonState):
    """Puts the names that weights had in TensorFlow 1 into the checkpoints of a model, with the attributes that hold them."""

    def __init__(self, names: dict[str, str]) -> None:
        super().__init__()
        self.names = names

    def serialize(self) -> str:
        return json.dumps(self.names)

    def deserialize(self, string_value: str) -> None:
        """The model knows its names."""


def keep_names(model: tf.keras.Model) -> tf.keras.Model:
    """`model`, whose checkpoints hold the names of `model.tf1_names`, by which other models find its weights there."""
    model.run_state.checkpoints.checkpoint.tf1_names = NamesInCheckpoint(dict(model.tf1_names))
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
    start = children[0].get("model", 0)
    if "tf1_names" not in children[0]:
        if start and "tf1_variables" not in children[start]:  # which models have that are graphs
            raise ValueError(
                f"{path} has no names of TensorFlow 1, as the model that wrote it does not keep them: migrate its program "
                "together with this one, or give that model `tf1_names` and call `keep_names(model)` before it trains."
            )
        return {
            part.full_name: part.checkpoint_key for node in graph.nodes for part in node.attributes if part.full_name
        }
    (names,) = graph.nodes[children[0]["tf1_names"]].attributes

    def below(node: int, name: str, parts: Sequence[str]) -> Iterator[tuple[str, str]]:
        """Names and keys of what the parts of a path of attributes lead to; ``*`` stands for all items of a list."""
        if not parts:
            yield from ((name, value.checkpoint_key) for value in graph.nodes[node].attributes)
        elif parts[0] != "*":
            held = next((each for each in (parts[0], f"_{parts[0]}") if each in children[node]), None)
            yield from below(children[node][held], name, parts[1:]) if held else ()
        else:
            for number in itertools.takewhile(lambda number: str(number) in children[node], itertools.count()):
                yield from below(children[node][str(number)], name.replace("*", str(number), 1), parts[1:])

    table = json.loads(reader.get_tensor(names.checkpoint_key))
    keys = {key: value for name, held in table.items() for key, value in below(start, name, held.split("."))}
    step = next((key for key in reader.get_variable_to_shape_map() if re.match(r"optimizer/_?iter", key)), None)
    return keys if step is None else {**keys, "global_step": step}


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

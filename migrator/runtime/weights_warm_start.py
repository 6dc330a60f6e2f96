"""A first start of a model with layers from the checkpoint of another one, as `warm_start_from` of an Estimator says."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Sequence

import tensorflow as tf
from tensorflow.core.protobuf.trackable_object_graph_pb2 import TrackableObjectGraph

from migrator.runtime.v1_checkpoints import saved_keys
from migrator.runtime.warm_start_settings import WarmStartSettings, keys_to_start_from, start_warm, starting_value
from migrator.runtime.weights_from_checkpoint import tf1_variables


class NamesInCheckpoint(tf.train.experimental.PythonState):
    """Puts the names that weights had in TensorFlow 1 into the checkpoints of a model, with the attributes that hold them."""

    def __init__(self, names: dict[str, str]) -> None:
        super().__init__()
        self.names = names

    def serialize(self) -> str:
        return json.dumps(self.names)

    def deserialize(self, string_value: str) -> None:
        """The model knows its names."""


def begin_warm(model: tf.keras.Model, warm_start_from: str | WarmStartSettings | None = None) -> tf.keras.Model:
    """`model`, which starts with values of a checkpoint as long as there is none in its `model_dir`.

    `warm_start_from` may be a SavedModel, or a checkpoint of which all trainable variables are taken. Its own checkpoints
    may be that of another model, as they hold the names of TensorFlow 1.
    """
    model.run_state.checkpoints.checkpoint.tf1_names = NamesInCheckpoint(dict(model.tf1_names))
    if warm_start_from is not None:
        start_warm(model, warm_start_from, take_named_weights)
    return model


def take_named_weights(model: tf.keras.Model, settings: WarmStartSettings) -> None:
    """Gives the trained weights that the pattern means their values of the checkpoint."""
    path, pattern = settings.ckpt_to_initialize_from, settings.vars_to_warm_start
    if pattern is not None and not isinstance(pattern, str):
        raise TypeError(f"vars_to_warm_start must be one pattern, given: {pattern!r}")
    chosen = {each.op.name: each.variable for each in tf1_variables(model, pattern)}
    if pattern is None:
        chosen = {name: chosen[name] for name in chosen if name in (settings.var_name_to_vocab_info or {})}
    keys, reader = keys_to_start_from(chosen, settings, keys_by_name(path)), tf.train.load_checkpoint(path)
    for name, variable in chosen.items():
        variable.assign(starting_value(reader, keys[name], name, settings))


def keys_by_name(path: str) -> dict[str, str]:
    """The keys of the variables of a checkpoint by their names in TensorFlow 1, whichever program wrote it."""
    reader = tf.train.load_checkpoint(path)
    if not reader.has_tensor("_CHECKPOINTABLE_OBJECT_GRAPH"):
        return saved_keys(path)
    graph = TrackableObjectGraph.FromString(reader.get_tensor("_CHECKPOINTABLE_OBJECT_GRAPH"))
    children = [{child.local_name: child.node_id for child in node.children} for node in graph.nodes]
    if "tf1_names" not in children[0]:
        return saved_keys(path)
    (names,) = graph.nodes[children[0]["tf1_names"]].attributes

    def below(node: int, name: str, parts: Sequence[str]) -> Iterator[tuple[str, str]]:
        """Names and keys of what the parts of a path of attributes lead to; ``*`` stands for all items of a list."""
        if not parts:
            yield from ((name, value.checkpoint_key) for value in graph.nodes[node].attributes)
        elif parts[0] != "*":
            yield from below(children[node][parts[0]], name, parts[1:]) if parts[0] in children[node] else ()
        else:
            for number in itertools.takewhile(lambda number: str(number) in children[node], itertools.count()):
                yield from below(children[node][str(number)], name.replace("*", str(number), 1), parts[1:])

    table = json.loads(reader.get_tensor(names.checkpoint_key))
    start = children[0]["model"]
    return {key: value for name, held in table.items() for key, value in below(start, name, held.split("."))}

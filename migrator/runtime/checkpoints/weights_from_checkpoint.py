"""First values of weights out of a checkpoint of TensorFlow 1, by the names that weights had there."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any, Callable

import tensorflow as tf

from migrator.runtime.checkpoints.checkpoint_names import keep_names, keys_by_name
from migrator.runtime.checkpoints.weight_names import TF1Variable, tf1_variables


def init_from_checkpoint(model: tf.keras.Model, checkpoint: str, assignment_map: Mapping[str, Any]) -> None:
    """Gives weights of `model` values of a checkpoint, as `init_from_checkpoint` of TensorFlow 1 does.

    Args:
      model: has all its weights, and in `tf1_names` the path of attributes to each by its name in TensorFlow 1.
      checkpoint: a checkpoint of TensorFlow 1, or of a model that keeps its names; or a folder with some.
      assignment_map: leads from names in the checkpoint to names of weights (or to items of `tf1_variables`), or from
        scopes to scopes, which end in a slash; ``/`` is the scope of everything, the global step included.

    Raises:
      ValueError: the checkpoint has no names, does not hold one of the values, or holds it in another shape or type.
    """
    reader, keys = tf.train.load_checkpoint(checkpoint), keys_by_name(checkpoint)
    weights = {each.op.name: each.variable for each in tf1_variables(model, trained_only=False)}
    weights["global_step"] = model.optimizer.iterations
    for old, new in sorted(dict(assignment_map).items()):
        name = new.op.name if isinstance(new, TF1Variable) else new
        pairs = {old: name}
        if name not in weights:
            if not (old.endswith("/") and name.endswith("/")):
                raise ValueError(f"assignment_map leads from {old} to {name}: neither a weight, nor scope to scope.")
            lead, scope = old if old != "/" else "", name if name != "/" else ""
            pairs = {lead + each[len(scope) :]: each for each in weights if each.startswith(scope)}
        for source, target in pairs.items():
            if source not in keys:
                raise ValueError(f"{checkpoint} does not hold {source}, which {target} should begin with.")
            value, variable = reader.get_tensor(keys[source]), weights[target]
            if list(value.shape) != list(variable.shape):
                raise ValueError(f"{target} has shape {list(variable.shape)}; in {checkpoint}: {list(value.shape)}")
            if variable.dtype != value.dtype:
                raise ValueError(f"{target} has type {variable.dtype}; in {checkpoint}: {value.dtype}")
            variable.assign(value)


def create_weights(model: tf.keras.Model, spec: Any) -> None:
    """Creates the weights of `model` as a training on batches of this spec does, but reads no data."""
    features, *rest = spec if isinstance(spec, tuple) else (spec,)
    fed = {"labels": rest[0]} if rest and "labels" in inspect.signature(model.call).parameters else {}
    with model.distribute_strategy.scope():
        tf.function(lambda x, **fed: model(x, training=True, **fed)).get_concrete_function(features, **fed)


def begin_with(model: tf.keras.Model, give_values: Callable[[], None]) -> tf.keras.Model:
    """`model`, which `give_values` gives first values as long as there is no checkpoint in its `model_dir`.

    Its own checkpoints may give them to another model, as they hold the names of TensorFlow 1.
    """
    keep_names(model)
    checkpoints = model.run_state.checkpoints
    restore = checkpoints.restore

    def restore_or_begin(path: str | None = None, with_optimizer: bool = False) -> None:
        if path is None and checkpoints.newest() is None and int(model.optimizer.iterations.numpy()) == 0:
            give_values()
        else:
            restore(path, with_optimizer)

    checkpoints.restore = restore_or_begin
    return model

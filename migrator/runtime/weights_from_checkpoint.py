"""First values of weights out of a checkpoint of TensorFlow 1, by the names that weights had there."""

from __future__ import annotations

import functools
import itertools
import re
import types
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Callable

import tensorflow as tf

from migrator.runtime.checkpoint_names import keep_names, keys_by_name


@dataclass(frozen=True, eq=False)
class TF1Variable:
    """A weight of a Keras model under its name in TensorFlow 1, such as ``encoder/dense/kernel:0``."""

    name: str
    variable: Any

    @property
    def op(self) -> types.SimpleNamespace:
        """What has the name without ``:0``."""
        return types.SimpleNamespace(name=self.name.rpartition(":")[0])

    @property
    def shape(self) -> tf.TensorShape:
        return tf.TensorShape(self.variable.shape)

    def get_shape(self) -> tf.TensorShape:
        """The shape, by the name that it has in TensorFlow 1."""
        return self.shape

    @property
    def dtype(self) -> Any:
        return self.variable.dtype


def tf1_variables(model: tf.keras.Model, scope: str | None = None, trained_only: bool = True) -> list[TF1Variable]:
    """The weights of `model` that are trained (or all of `model.tf1_names`), in the order in which TensorFlow 1 made them.

    With a `scope`, those whose name begins with this pattern.
    """
    found = [TF1Variable(f"{name}:0", variable) for name, variable in named_weights(model, [*model.tf1_names.items()])]
    known = {id(part) for each in found for part in getattr(each.variable, "variables", [each.variable])}
    missing = [variable.name for variable in model.trainable_variables if id(variable) not in known]
    if missing:
        raise ValueError(f"tf1_names of {type(model).__name__} does not name these weights: {', '.join(missing)}")
    found = [each for each in found if each.variable.trainable or not trained_only]
    return [each for each in found if scope is None or re.match(scope, each.name)]


def named_weights(owner: Any, names: Sequence[tuple[str, str]]) -> Iterator[tuple[str, Any]]:
    """Names in TensorFlow 1 and weights of `owner`, out of names and paths of attributes.

    ``*`` runs over the items of a list: all weights of one item come before those of the next.
    """
    while names:
        lead, several, _ = names[0][1].partition("*")
        held = functools.reduce(part_of_model, filter(None, lead.split(".")), owner)
        if not several:
            if held is not None:  # else this model was made without it
                yield names[0][0], held
            names = names[1:]
            continue
        inside = list(itertools.takewhile(lambda pair: pair[1].startswith(lead + "*"), names))
        for number, item in enumerate(held or ()):
            pairs = [(name.replace("*", str(number), 1), path[len(lead) + 1 :]) for name, path in inside]
            yield from named_weights(item, pairs)
        names = names[len(inside) :]


def part_of_model(owner: Any, name: str) -> Any:
    """An attribute, or an item of a dict; None where there is none."""
    return owner.get(name) if isinstance(owner, Mapping) else getattr(owner, name, None)


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

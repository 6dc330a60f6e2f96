"""The names that weights of a Keras model had in TensorFlow 1."""

from __future__ import annotations

import functools
import itertools
import re
import types
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import tensorflow as tf


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
    known = {id(part) for each in found for part in _parts(each.variable)}
    missing = [variable.name for variable in model.trainable_variables if id(variable) not in known]
    if missing:
        raise ValueError(f"tf1_names of {type(model).__name__} does not name these weights: {', '.join(missing)}")
    trained = {id(variable) for variable in model.trainable_variables}  # without those of frozen layers
    if trained_only:
        found = [each for each in found if any(id(part) in trained for part in _parts(each.variable))]
    return [each for each in found if scope is None or re.match(scope, each.name)]


def _parts(variable: Any) -> Sequence[Any]:
    """The variables that a weight is kept in."""
    parts: Sequence[Any] = getattr(variable, "variables", [variable])
    return parts


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
    """An attribute, or an item of a list or a dict; None where there is none."""
    if name.isdigit():
        return owner[int(name)]
    return owner.get(name) if isinstance(owner, Mapping) else getattr(owner, name, None)

"""What a strategy has in several places: variables as copies on replicas or as parts on parameter servers, and datasets."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np


def components(variable: Any) -> list[Any]:
    """The copies on the replicas of this process, or the variable alone."""
    parts = getattr(variable, "values", None)
    return list(parts) if isinstance(parts, (list, tuple)) else [variable]


def merged(values: Sequence[Any]) -> Any:
    """The value of a variable from those of its copies: moving statistics differ, and their mean is what counts."""
    first = np.asarray(values[0])
    if all(np.array_equal(first, value) for value in values[1:]):
        return first
    return np.mean(np.stack(values), axis=0).astype(first.dtype)


def value_of(variable: Any) -> Any:
    """The value of a variable of TensorFlow 2, which other processes need not take part in."""
    if isinstance(variable, Parts):
        return np.concatenate([value_of(part) for part in variable.parts])
    import tensorflow as tf

    return merged([tf.convert_to_tensor(part).numpy() for part in components(variable)])


class Parts:
    """A variable in parts along its first axis, as one."""

    def __init__(self, name: str, parts: Sequence[Any]) -> None:
        self.name, self.parts = name, list(parts)
        self.shape = (sum(int(part.shape[0]) for part in parts), *(int(n) for n in parts[0].shape[1:]))
        self.trainable = bool(parts[0].trainable)

    def assign(self, value: Any) -> None:
        start = 0
        for part in self.parts:
            size = int(part.shape[0])
            part.assign(value[start : start + size])
            start += size

    def holds(self, variable: Any) -> bool:
        """Whether `variable` is this one, as Keras layers hold it."""
        parts = getattr(variable, "variables", None)
        return parts is not None and parts[0] is self.parts[0]


def joined(variables: Sequence[Any], name_of: Any) -> list[Any]:
    """`variables` in which ``x/part_0``, ``x/part_1``, ... have become one; another ``x/part_0`` begins another one."""
    found: list[Any] = []
    newest: dict[str, list[Any]] = {}
    for variable in variables:
        part = re.match(r"^(.*)/part_(\d+)$", name_of(variable))
        if part is None:
            found.append(variable)
            continue
        name, number = part.groups()
        if number == "0" or name not in newest:
            newest[name] = []
            found.append((name, newest[name]))
        newest[name].append(variable)
    return [Parts(*one) if isinstance(one, tuple) else one for one in found]


def watch_strategies() -> None:
    """Let datasets that a strategy shares out tell what their function has made."""
    import tensorflow as tf

    base: Any = tf.distribute.Strategy
    share = base.distribute_datasets_from_function

    def watched(self: Any, dataset_fn: Any, options: Any = None) -> Any:
        made: list[Any] = []

        def noted(context: Any) -> Any:
            made.append(dataset_fn(context))
            return made[-1]

        found = share(self, noted, options)
        if not isinstance(found, tf.data.Dataset):
            own = made[0] if made else dataset_fn(tf.distribute.InputContext())
            found._shared_out = (own, self)
        return found

    base.distribute_datasets_from_function = watched


def shared_out(data: Any) -> Any:
    """The dataset of this process that a strategy shares out as `data`; None: they are not shared out."""
    return getattr(data, "_shared_out", (None,))[0]


def shared_out_like(data: Any, replayed: Any) -> Any:
    """A dataset in place of `data`, shared out as these are."""
    if shared_out(data) is None:
        return replayed
    return data._shared_out[1].distribute_datasets_from_function(lambda _: replayed)

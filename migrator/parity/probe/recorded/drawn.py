"""More of what initializers draw: a small variable has too few first values to tell their distribution by.

Both sides draw again what a variable began with: the old one by its initial value in the graph, the new one by the
initializer that Keras was given, with other seeds. Nothing that the programs draw themselves depends on it.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

import numpy as np

WANTED = 4096
"""So many values of each variable are drawn, if `ROUNDS` are enough for it."""
ROUNDS = 64
SMALL = 4096
"""Of larger variables the first values say enough."""


def of_graph(session: Any, variables: Mapping[str, Any]) -> dict[str, Any]:
    """The values that the initial values of variables of a graph take, drawn anew; none of those that are always the same."""
    import tensorflow as tf

    wanted = {name: variable.initial_value for name, variable in variables.items() if _is_small(variable)}
    found: dict[str, list[Any]] = {}
    for number in range(ROUNDS):
        left = {name: value for name, value in wanted.items() if number * np.size(found.get(name, [0])[0]) < WANTED}
        if not left:
            break
        try:
            drawn = session.run(left)
        except (tf.errors.OpError, ValueError, TypeError, RuntimeError):  # what waits for data, or for other variables
            return {}
        for name, value in drawn.items():
            if number == 1 and np.array_equal(found[name][0], value):
                del wanted[name]
            found.setdefault(name, []).append(value)
    return {name: np.concatenate([np.ravel(value) for value in found[name]]) for name in wanted if name in found}


def _is_small(variable: Any) -> bool:
    size = variable.shape.num_elements()
    return size is not None and 1 < size <= SMALL and variable.dtype.is_floating


class Initializers:
    """The initializers that Keras layers were given for their weights."""

    def __init__(self) -> None:
        self.given: dict[int, tuple[Any, Any, Any]] = {}
        """By the id of a weight: itself, its initializer and its first value."""

    def install(self) -> None:
        """Watch how layers make their weights."""
        import tensorflow as tf

        base: Any = tf.keras.layers.Layer
        add_weight = base.add_weight
        signature = inspect.signature(add_weight)

        def watched(layer: Any, *args: Any, **named: Any) -> Any:
            made = add_weight(layer, *args, **named)
            self._note(made, _initializer(signature.bind(layer, *args, **named).arguments.get("initializer")))
            return made

        base.add_weight = watched

    def _note(self, variable: Any, initializer: Any) -> None:
        import tensorflow as tf

        if not hasattr(initializer, "get_config"):
            return
        try:
            with tf.init_scope():  # Keras 3 traces a model before it calls it
                if not tf.executing_eagerly():
                    return
                value = np.asarray(variable)
        except (TypeError, ValueError, NotImplementedError, AttributeError, tf.errors.OpError):
            return  # on several devices
        if 1 < value.size <= SMALL and value.dtype.kind == "f" and "seed" in initializer.get_config():
            self.given[id(variable)] = variable, initializer, value

    def drawn(self, variable: Any, value: Any) -> Any:
        """What the initializer of a weight draws, if that is where its `value` comes from; else None."""
        given = self.given.get(id(variable))
        if given is None or not np.array_equal(given[2], value):
            return None
        kind, config, values = type(given[1]), given[1].get_config(), []
        for number in range(min(ROUNDS, -(-WANTED // value.size))):
            try:
                one = kind.from_config({**config, "seed": 7919 + number})(value.shape, dtype=value.dtype.name)
            except (TypeError, ValueError):  # a class of the program's own
                return None
            values.append(np.ravel(np.asarray(one)))
        return np.concatenate(values)


def _initializer(given: Any) -> Any:
    """The one that `add_weight` was given, perhaps by its name, or its default."""
    import tensorflow as tf

    try:
        return tf.keras.initializers.get("glorot_uniform" if given is None else given)
    except (TypeError, ValueError):  # nothing of Keras
        return None

"""Weights and layers whose size is not written where they are made: it is that of a value, or known when data flow first."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import tensorflow as tf


def weight_from_value(layer: Any, value: Any, dtype: Any = None, **settings: Any) -> Any:
    """A weight of `layer` that begins with `value` and has its shape, and its type if no `dtype` is given."""
    value = tf.convert_to_tensor(value, dtype)
    settings.update(shape=tuple(value.shape), dtype=value.dtype.name, initializer=lambda *args, **kwargs: value)
    return layer.add_weight(**settings)


def get_weight(layer: Any, name: str, **settings: Any) -> Any:
    """The weight of `layer` called `name`. The first call makes it by `add_weight(name=name, **settings)`.

    For weights whose shape depends on the inputs: call this in ``call``, where TensorFlow 1 had ``tf.get_variable``.
    Later calls give the same weight. Raises ValueError if they ask for another shape.
    """
    weights = vars(layer).setdefault("late_weights", {})
    if name not in weights:
        with tf.init_scope(), unlocked(layer):  # outside of the function that is being traced
            weights[name] = layer.add_weight(name=name, **settings)
    wanted, present = tf.TensorShape(settings.get("shape")), tf.TensorShape(weights[name].shape)
    if not wanted.is_compatible_with(present):
        raise ValueError(f"The weight {name} has the shape {present}, not {wanted}.")
    return weights[name]


@contextlib.contextmanager
def unlocked(layer: Any) -> Iterator[None]:
    """Lets a layer take weights and layers in `call`: in Keras 3, one without `build` is locked before."""
    tracker: Any = getattr(layer, "_tracker", None)
    if tracker is None or not tracker.locked:
        yield
        return
    tracker.unlock()
    try:
        yield
    finally:
        tracker.lock()


def get_layer(owner: Any, attribute: str, make: Any, *args: Any, **settings: Any) -> Any:
    """The layer that `owner` has as its `attribute`. The first call makes it: ``make(*args, **settings)``.

    For layers that are as wide as a tensor inside of ``call``: use it there. Raises ValueError if a later call asks for
    other numbers, as for another width, and if `owner` has something else by that name.
    """
    numbers = [value for value in (*args, *settings.values()) if isinstance(value, (int, float))]
    made = vars(owner).setdefault("late_layers", {})
    if attribute not in made:
        if hasattr(owner, attribute):
            raise ValueError(f"{type(owner).__name__} has an attribute {attribute} already.")
        with unlocked(owner):
            setattr(owner, attribute, make(*args, **settings))
        made[attribute] = numbers
    if made[attribute] != numbers:
        raise ValueError(f"The layer {attribute} was made with {made[attribute]}, not with {numbers}.")
    return getattr(owner, attribute)

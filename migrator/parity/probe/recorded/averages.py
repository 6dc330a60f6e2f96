"""Moving averages of weights: those of the graphs of the old program, and which variables of the new one hold them.

Programs keep them for later: where nothing that they run reads them, no other number shows whether they are right.
"""

from __future__ import annotations

import gc
import re
from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

from .slots import AVERAGE

_AVERAGE = re.compile(rf"^(?P<weight>.+)/{AVERAGE}(?:_\d+)?$")  # with a number: of another set of averages


def averaged(name: str, weights: Collection[str]) -> str | None:
    """The weight that a variable of a graph is the moving average of; None if it is none."""
    found = _AVERAGE.match(name)
    parts = found["weight"].split("/") if found else []
    tails = ("/".join(parts[start:]) for start in range(len(parts)))  # a scope may stand before the name a second time
    return next((tail for tail in tails if tail in weights), None)


def held(wanted: Mapping[str, Any]) -> dict[str, Any]:
    """For each array the value of the variable of this process that is nearest to it, those of its size taken; none where
    there is none."""
    import tensorflow as tf

    sizes = {np.size(value) for value in wanted.values()}
    values = []
    for variable in [each for each in gc.get_objects() if issubclass(type(each), tf.Variable)]:
        try:
            if variable.dtype.is_floating and np.prod(variable.shape.as_list()) in sizes:
                values.append(variable.numpy())
        except (AttributeError, NotImplementedError, ValueError, TypeError, tf.errors.OpError):
            continue  # of a graph, of another process, or not filled
    found = {}
    for name, array in wanted.items():
        alike = [value for value in values if value.size == array.size]
        if alike:
            found[name] = min(alike, key=lambda value: _distance(array, value)).reshape(array.shape)
    return found


def _distance(old: Any, new: Any) -> float:
    distance = float(np.max(np.abs(old.reshape(-1) - new.reshape(-1)), initial=0.0))
    return distance if np.isfinite(distance) else np.inf

"""The variables of a graph as its model knows them: whole, by name, and without those of optimizers."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from .. import distributed
from ..tf1 import lookups
from .ownstate import is_own
from .slots import is_power

_KERAS_OPTIMIZER = re.compile(r"^training(_\d+)?/[A-Z]\w*/")


def slot_names(variables: list[Any]) -> set[str]:
    """Names of variables that optimizers made: they are no part of the model."""
    import tensorflow as tf

    trainable = {logical(v)[0] for v in tf.compat.v1.trainable_variables()}
    found = {"global_step", "signal_early_stopping/STOP"}
    for variable in variables:
        name = logical(variable)[0]
        if name in trainable or name.rsplit("/", 1)[-1] in ("moving_mean", "moving_variance"):
            continue
        if name.endswith("/learning_rate") and not variable.shape.rank:  # of `tf.contrib.layers.optimize_loss`
            found.add(name)
            continue
        parts = name.split("/")
        if _KERAS_OPTIMIZER.match(name):  # of `tf.estimator` in TensorFlow 2
            inner = {"/".join(parts[2:n]) for n in range(3, len(parts))}
            if inner & trainable or (len(parts) == 3 and not variable.shape.rank):
                found.add(name)
                continue
        # Slots are named after their variable, `scope/dense/kernel/Adam`; `scope/dense/kernel` is that of a frozen layer.
        within = {"/".join(parts[i:j]) for i in range(len(parts)) for j in range(i + 1, len(parts))}
        if within & trainable or is_power(name) or is_own(name):
            found.add(name)
    return found


def logical(variable: Any) -> tuple[str, list[int], list[int] | None]:
    """Name and shape of the whole variable, and the offset of this part if it is partitioned."""
    variable = distributed.components(variable)[0]
    info = getattr(variable, "_save_slice_info", None) or getattr(variable, "_get_save_slice_info", lambda: None)()
    if info is not None:
        return info.full_name, [int(n) for n in info.full_shape], [int(n) for n in info.var_offset]
    return variable.op.name, [int(n) for n in variable.shape.as_list()], None


def whole(variables: list[Any]) -> dict[str, Any]:
    """Those of the variables that are in one piece and in one place, by name."""
    named = [(logical(variable), variable) for variable in variables if len(distributed.components(variable)) == 1]
    return {name: variable for (name, _, offset), variable in named if offset is None}


def read(session: Any, variables: list[Any]) -> dict[str, Any]:
    """Values of variables by name; parts of a partitioned one are put together."""
    found: dict[str, Any] = {}
    starts: dict[str, list[int]] = {}
    for variable, copies in zip(variables, session.run([distributed.components(v) for v in variables])):
        (name, shape, offset), value = logical(variable), distributed.merged(copies)
        if offset is None:
            found[name] = value
        else:
            target = found.setdefault(name, np.zeros(shape, value.dtype))
            target[tuple(slice(start, start + n) for start, n in zip(offset, value.shape))] = value
            starts.setdefault(name, []).append(offset[0])
    for name in lookups.in_turn(session.graph) & set(starts):
        found[name] = lookups.by_id(found[name], starts[name])
    return found

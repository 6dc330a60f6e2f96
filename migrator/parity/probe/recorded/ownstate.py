"""Variables that optimizers of the old side keep for themselves, beside the slots of the variables that they train."""

from __future__ import annotations

from typing import Any

_NAMES: set[str] = set()


def install() -> None:
    """Remember what `tf.train.Optimizer._create_non_slot_variable` makes, as `beta1_power` of Adam."""
    import tensorflow as tf

    base: Any = tf.compat.v1.train.Optimizer
    create = base._create_non_slot_variable

    def watched(self: Any, *args: Any, **named: Any) -> Any:
        variable = create(self, *args, **named)
        _NAMES.add(variable.op.name)
        return variable

    base._create_non_slot_variable = watched


def is_own(name: str) -> bool:
    """Whether a variable of this name is kept by an optimizer for itself."""
    return name in _NAMES

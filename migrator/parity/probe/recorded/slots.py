"""Which tensors of a TF1 checkpoint are the state of an optimizer. Pure data, no TensorFlow."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

_PART = re.compile(r"^(?:part|t)_\d+/")  # what partitioned variables, and those of canned Estimators, have in between
AVERAGE = "ExponentialMovingAverage"
POWERS = ("beta1_power", "beta2_power")
_POWER = re.compile(rf"(?:{'|'.join(POWERS)})(?:_\d+)?$")


class StateError(Exception):
    """State of an optimizer that does not fit; the text says which."""


def children(name: str, names: Collection[str]) -> dict[str, str]:
    """Tensors that are named after variable `name`, by what they add to it: ``{"Adam": "w/Adam", "Adam_1": ...}``."""
    found = {}
    for other in names:
        if other.startswith(name + "/"):
            rest = _PART.sub("", other[len(name) + 1 :])
            if "/" not in rest and rest != AVERAGE:
                found[rest] = other
    return found


def is_power(name: str) -> bool:
    """Whether a variable is a power of the betas of Adam, or of one more Adam: ``beta1_power_1``."""
    return _POWER.match(name.rsplit("/", 1)[-1]) is not None


def is_state(name: str, names: Collection[str]) -> bool:
    """Whether a tensor is no variable of the model: the global step, a slot or a moving average, a power of Adam."""
    parts = name.split("/")
    if name == "global_step" or is_power(name):
        return True
    heads = ("/".join(parts[:length]) for length in range(1, len(parts)))
    return any(head in names and (parts[-1] == AVERAGE or name in children(head, names).values()) for head in heads)


def slots(name: str, names: Collection[str], wanted: Sequence[str]) -> list[str] | None:
    """The tensors that hold the slots `wanted` of variable `name`, in this order; None if it has no slots.

    TF1 names slots after their optimizer, in the order in which that makes them: ``w/Adam``, ``w/Adam_1``. Optimizers
    of a program's own name them as they like, often ``w/adam_m``. Raises StateError if the tensors are not these.
    """
    given = children(name, names)
    if not given:
        return None
    ordered = sorted(given, key=lambda rest: (len(rest), rest))
    expected = [ordered[0]] + [f"{ordered[0]}_{number}" for number in range(1, len(wanted))]
    if sorted(expected) == sorted(given):
        return [given[rest] for rest in expected]
    named = [[rest for rest in given if rest == slot or rest.endswith("_" + slot)] for slot in wanted]
    if all(len(rests) == 1 for rests in named) and len(given) == len(wanted):
        return [given[rests[0]] for rests in named]
    raise StateError(
        f"the checkpoint holds {', '.join(sorted(given.values()))}; the new optimizer keeps {', '.join(wanted)} for {name}"
    )

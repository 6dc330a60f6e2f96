"""Which weights a training moved by rounding alone, as they have no gradient: the bias before a softmax over the same axis.

Adam divides a gradient by its own size, so that what rounding leaves of a gradient of zero moves such a weight, on each side
another way. It stays behind the others, as the optimizer's epsilon is about as large as such gradients.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from migrator.parity.probe.recorded.store import Reader

BEHIND = 1e-3
"""How far a weight without a gradient may move, as a part of the largest movement of all weights."""
ROUNDING = 1e-6
"""A gradient that is never a larger part of the largest one of its step is what rounding leaves of zero."""
BEHIND_IF_ROUNDING = 2e-2
"""What `BEHIND` is for a weight whose gradients are seen to be that small."""
BEHIND_IF_ALIKE = 0.1
"""What it is where both sides moved such a weight about as far."""
ALIKE = 5
"""How many times as far one side may have moved it as the other."""


def unmoved(old: Reader, new: Reader, stream: int) -> set[str]:
    """Names of trained variables that both sides moved, by far less than the most moved variable.

    One that stands still on a single side is not among them: there it is not trained.
    """
    starts = [event["variables"] for event in old.of("variables") if event["stream"] == stream]
    first = {entry["name"]: entry["value"] for entry in (starts[0] if starts else []) if entry["trainable"]}
    ends = [[event["variables"] for event in side.of("final") if event["stream"] == stream] for side in (old, new)]
    if not all(ends):
        return set()
    moved: dict[str, list[float]] = {}
    """By how much each side moved a variable."""
    for name, reference in first.items():
        if all(name in side[-1] for side in ends):
            start = old.array(reference)
            distances = [_distance(start, side.array(end[-1][name])) for side, end in zip((old, new), ends)]
            if all(map(np.isfinite, distances)):
                moved[name] = distances
    most = max((distances[0] for distances in moved.values()), default=0.0)
    near = _near_zero(old, stream)
    return {
        name
        for name, distances in moved.items()
        if 0 < min(distances) and max(distances) <= _limit(distances, name in near) * most
    }


def _limit(distances: list[float], rounding: bool) -> float:
    """How far a weight may have moved, as a part of the largest movement of all."""
    alike = max(distances) <= ALIKE * min(distances)
    return BEHIND if not rounding else BEHIND_IF_ALIKE if alike else BEHIND_IF_ROUNDING


def _near_zero(old: Reader, stream: int) -> set[str]:
    """Variables whose gradients were seen in all steps, and were next to nothing."""
    steps = [event.get("gradients") or {} for event in old.of("step") if event["stream"] == stream]
    near = set.intersection(*map(set, steps)) if steps else set()
    for sizes in steps:
        largest = max(sizes.values(), default=0.0)
        near = {name for name in near if sizes[name] <= ROUNDING * largest}
    return near


def _distance(start: Any, end: Any) -> float:
    if start.size != end.size or not start.size or start.dtype.kind != "f" or end.dtype.kind != "f":
        return float("inf")
    return float(np.max(np.abs(start.astype(np.float64) - end.reshape(start.shape).astype(np.float64))))

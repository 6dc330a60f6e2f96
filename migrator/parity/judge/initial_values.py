"""Whether the initializers of both programs could be the same, judged by the first values that they drew.

The values differ, as each program draws its own; what they have in common is their distribution. A variable differs only
where chance would hardly ever bring it about, so that small ones may hide a difference: sixteen values show another
deviation if it is ten times as large, a thousand if it is a third larger.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from migrator.parity.judge.report import Difference
from migrator.parity.probe.recorded.store import Reader, sample

FEWEST = 16
"""Of fewer values only constants are compared."""
FEWEST_FOR_SHAPE = 512
"""Of so many values the kurtosis is compared as well, which tells a uniform distribution from a normal one."""
FEWEST_ALIKE = 4
"""So many values do not come twice by chance."""
DEVIATIONS = 6.0
"""How far a statistic may be off, in its own standard deviations: chance exceeds it once in 500 million variables."""


def compare_initial_values(name: str, stream: int, old: Reader, new: Reader) -> list[Difference]:
    """Differences between the first values of the variables of a model. `name` is put before each variable's.

    There are none where a Scaffold fills variables, which the new program may do later, when its training begins, nor
    of those that a program loads.
    """
    found = _seeds(name, stream, old, new)
    mine = [event for event in new.of("initial") if event["stream"] == stream]
    theirs = [
        event["variables"] for event in old.of("variables") if event["stream"] == stream and not event.get("filled")
    ]
    if not mine or not theirs:
        return found
    first = {entry["name"]: entry["value"] for entry in theirs[0] if "from" not in entry}
    drawn = {variable: reference for variable, reference in mine[0]["variables"].items() if variable in first}
    drawn = {variable: reference for variable, reference in drawn.items() if variable not in mine[0].get("loaded", ())}
    found += _alike(name, {v: (old.array(first[v]), new.array(reference)) for v, reference in drawn.items()})
    again = {entry["name"]: entry["drawn"] for entry in theirs[0] if "drawn" in entry}
    more = {v: (old.array(again[v]), new.array(b)) for v, b in mine[0].get("drawn", {}).items() if v in again}
    for variable, reference in drawn.items():
        a, b = sample(old.array(first[variable])), sample(new.array(reference))
        if a.dtype.kind != "f" or b.dtype.kind != "f":
            continue
        if same_distribution(a, b) and variable in more:  # of small variables, both sides have drawn more
            if all(same_distribution(first, drawn) for first, drawn in zip((a, b), more[variable])):
                a, b = more[variable]
        if not same_distribution(a, b):
            text = f"initial values are of another distribution: old {_described(a)}, new {_described(b)}"
            found.append(Difference("initial values", name + variable, text))
    return found


def _alike(name: str, values: dict[str, tuple[Any, Any]]) -> list[Difference]:
    """Variables that start with the values of another one in the new program alone, as those of one initializer do that
    always draws the same."""
    found: list[Difference] = []
    seen: dict[bytes, str] = {}
    for variable, (_, b) in values.items():
        head = b.reshape(-1)[:FEWEST_ALIKE]
        if b.dtype.kind != "f" or head.size < FEWEST_ALIKE or np.ptp(head) == 0:
            continue
        other = seen.setdefault(head.tobytes(), variable)
        a, first = values[variable][0].reshape(-1), values[other][0].reshape(-1)
        if other != variable and not np.array_equal(a[:FEWEST_ALIKE], first[:FEWEST_ALIKE]):
            text = f"initial values are those of {other}, which the old program draws anew"
            found.append(Difference("initial values", name + variable, text))
    return found


def _seeds(name: str, stream: int, old: Reader, new: Reader) -> list[Difference]:
    """Whether the RunConfigs of a model have different seeds; nothing of programs whose RunConfig is not seen."""
    sides = [
        next((e["seed"] for e in side.of("begin") if "seed" in e and e["stream"] == stream), ...) for side in (old, new)
    ]
    if ... in sides or sides[0] == sides[1]:
        return []
    message = f"tf_random_seed of the RunConfig: old {sides[0]}, new {sides[1]}"
    return [Difference("initial values", name.rstrip(", "), message)]


def same_distribution(a: Any, b: Any) -> bool:
    """Whether two arrays of numbers could be draws of one distribution, or the same constants."""
    a, b = np.asarray(a, np.float64), np.asarray(b, np.float64)
    if not (a.size and b.size) or (a.shape == b.shape and np.allclose(a, b, 1e-6, 0)):
        return True
    if a.size == 1 or b.size == 1:  # one draw says nothing, but initializers draw no 0 and no 1
        return not {a[0], b[0]} & {0.0, 1.0}
    constant = [bool(np.ptp(values) == 0) for values in (a, b)]
    if any(constant):
        return all(constant) and bool(np.isclose(a[0], b[0], 1e-6, 0))
    if min(a.size, b.size) < FEWEST:
        return True
    found = [_largest_gap(a, b), *(_ends_apart(kind(a), kind(b)) for kind in (np.positive, np.negative, np.abs))]
    if not (_has_tails(a) or _has_tails(b)):
        found += [_mean_apart(a, b), _deviation_apart(a, b)]
        if min(a.size, b.size) >= FEWEST_FOR_SHAPE:
            found.append(_shape_apart(a, b))
    return max(found) <= DEVIATIONS


def _kurtosis(values: Any) -> float:
    return float(((values - values.mean()) ** 4).mean() / values.var() ** 2)


def _has_tails(values: Any) -> bool:
    """Whether more of the values lie far out than normal ones would, so that their moments are known too badly."""
    return _kurtosis(values) > 3 + 3 * math.sqrt(24 / values.size)  # the deviation of that of normal values


def _mean_apart(a: Any, b: Any) -> float:
    """Welch's statistic."""
    return float(abs(a.mean() - b.mean()) / math.sqrt(a.var() / a.size + b.var() / b.size))


def _deviation_apart(a: Any, b: Any) -> float:
    """The difference of the logarithms of the deviations, whose variance is (kurtosis - 1) / 4n in large samples."""
    variance = 0.0
    for values in (a, b):
        variance += max(_kurtosis(values) - 1, 0.8) / (4 * values.size)  # 0.8: that of a uniform distribution
    return abs(math.log(a.std() / b.std())) / math.sqrt(variance)


def _shape_apart(a: Any, b: Any) -> float:
    """The difference of the kurtoses; its variance by their influence function (delta method)."""
    kurtoses, variance = [], 0.0
    for values in (a, b):
        squares = ((values - values.mean()) / values.std()) ** 2
        kurtosis = _kurtosis(values)
        kurtoses.append(kurtosis)
        variance += float(((squares**2 - 2 * kurtosis * squares + kurtosis) ** 2).mean()) / values.size
    return abs(kurtoses[0] - kurtoses[1]) / math.sqrt(variance)


def _largest_gap(a: Any, b: Any) -> float:
    """The statistic of Kolmogorov and Smirnov, on the scale of a normal one.

    Its probability is about 2 exp(-2 s^2), that of x deviations about exp(-x^2 / 2): so x is 2 s, and ln 2 is left out.
    """
    a, b = np.sort(a), np.sort(b)
    both = np.concatenate([a, b])
    gap = np.abs(np.searchsorted(a, both, "right") / a.size - np.searchsorted(b, both, "right") / b.size).max()
    return float(2 * gap * math.sqrt(a.size * b.size / (a.size + b.size)))


def _ends_apart(a: Any, b: Any) -> float:
    """How improbable it is that so many of the largest values are all of one side: sharp where a distribution has a limit.

    If both have one distribution, each order of the values of both is as probable as the others.
    """
    more, fewer = (a, b) if a.max() > b.max() else (b, a)
    places = np.arange(np.sum(more > fewer.max()))
    logarithm = float(np.log((more.size - places) / (a.size + b.size - places)).sum())
    return math.sqrt(-2 * logarithm)


def _described(values: Any) -> str:
    if np.ptp(values) == 0:
        return f"all {float(values[0]):.4g}"
    return f"{values.min():.2g} to {values.max():.2g} (mean {values.mean():.2g}, deviation {values.std():.2g})"

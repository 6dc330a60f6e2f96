"""Whether two samples of a number come from one distribution: a permutation test of their means, and what it could have seen."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

SIGNIFICANCE = 0.01
NEGLIGIBLE = 1e-3
"""Relative differences of the means below this are no finding, however sure they are."""
POWER = 0.8
"""How often a difference that is called visible would be seen."""
DRAWS = 20_000
"""Of fewer ways to share out the numbers, all are looked at; else so many by chance."""
_Z_SIGNIFICANCE, _Z_POWER = 2.576, 0.842
"""Quantiles of the normal distribution for `SIGNIFICANCE`, two-sided, and `POWER`."""


@dataclass(frozen=True)
class Compared:
    """Two samples of one number."""

    name: str
    old: tuple[float, ...]
    new: tuple[float, ...]
    p: float
    """How often means are at least as far apart if chance alone says which side a number is of; corrected for several numbers."""

    @property
    def difference(self) -> float:
        """The mean of the new ones less that of the old ones."""
        return _mean(self.new) - _mean(self.old)

    @property
    def deviation(self) -> float:
        """Standard deviation within the samples."""
        squares = sum((x - _mean(side)) ** 2 for side in (self.old, self.new) for x in side)
        return math.sqrt(squares / max(1, len(self.old) + len(self.new) - 2))

    @property
    def effect(self) -> float:
        """The difference in standard deviations (Cohen's d)."""
        return self.difference / self.deviation if self.deviation else 0.0

    @property
    def visible(self) -> float:
        """The smallest difference that such samples show in four of five cases."""
        sizes = 1 / len(self.old) + 1 / len(self.new)
        small = 1 + 2 / max(1, len(self.old) + len(self.new) - 2)  # about what Student's t is wider than the normal
        return small * (_Z_SIGNIFICANCE + _Z_POWER) * self.deviation * math.sqrt(sizes)

    def seeds(self, relative: float) -> int:
        """How many runs of each side show a `relative` difference in four of five cases."""
        wanted = relative * abs(_mean(self.old))
        return max(2, math.ceil(2 * ((_Z_SIGNIFICANCE + _Z_POWER) * self.deviation / wanted) ** 2)) if wanted else 2

    @property
    def differs(self) -> bool:
        """Whether the programs differ; also where a number is none on one side more often than on the other."""
        broken = [sum(not math.isfinite(x) for x in side) / len(side) for side in (self.old, self.new)]
        if any(broken):
            return broken[0] != broken[1]
        return self.p < SIGNIFICANCE and abs(self.difference) > NEGLIGIBLE * abs(_mean(self.old))

    def __str__(self) -> str:
        level = abs(_mean(self.old))

        def percent(value: float) -> str:
            return f"{100 * value / level:.2g} %" if level else f"{value:.2g}"

        text = (
            f"{self.name}: old {_mean(self.old):.6g}, new {_mean(self.new):.6g} (means of {len(self.old)} and {len(self.new)} "
            f"runs), {self.effect:+.2g} standard deviations, p = {self.p:.2g}"
        )
        if self.deviation and not self.differs:
            text += f"; a difference of {percent(self.visible)} would have been seen in four of five cases"
            if level and self.visible > 0.01 * level:
                text += f"; to see one of 1 %, take --seeds {self.seeds(0.01)}"
        return text


def compared(old: Mapping[str, Sequence[float]], new: Mapping[str, Sequence[float]]) -> list[Compared]:
    """The numbers that both sides have, their p-values corrected for how many there are (Holm)."""
    names = [name for name in old if name in new]
    raw = {name: permutation_p(old[name], new[name]) for name in names}
    corrected: dict[str, float] = {}
    least = 0.0
    for rank, name in enumerate(sorted(names, key=lambda name: raw[name])):
        least = max(least, min(1.0, (len(names) - rank) * raw[name]))
        corrected[name] = least
    return [Compared(name, tuple(old[name]), tuple(new[name]), corrected[name]) for name in names]


def permutation_p(old: Sequence[float], new: Sequence[float]) -> float:
    """Two-sided p-value of the difference of means. 1 where a number is not finite."""
    every = np.array([*old, *new], np.float64)
    if not np.isfinite(every).all():
        return 1.0
    size = len(old)
    seen = abs(every[:size].mean() - every[size:].mean())
    slack = seen * (1 - 1e-12) - 1e-15 * float(np.abs(every).max(initial=0.0))
    if math.comb(len(every), size) <= DRAWS:
        firsts = every[np.array(list(itertools.combinations(range(len(every)), size)))].sum(axis=1)
        return float(np.mean(_apart(firsts, every, size) >= slack))
    rng = np.random.RandomState(0)
    firsts = every[rng.rand(DRAWS - 1, len(every)).argsort(axis=1)[:, :size]].sum(axis=1)
    return float((1 + np.sum(_apart(firsts, every, size) >= slack)) / DRAWS)


def _apart(firsts: Any, every: Any, size: int) -> Any:
    """How far the means are apart if the numbers of the first sample add up to `firsts`."""
    return np.abs(firsts / size - (every.sum() - firsts) / (len(every) - size))


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)

"""Whether two programs whose trainers race each other train equally well: a test over seeds, against the race's own noise."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

SIGNIFICANCE = 0.01
NEGLIGIBLE = 1e-3
"""Relative effects below this are no finding, however sure they are."""


@dataclass(frozen=True)
class Comparison:
    """Losses at the end of training, of pairs that began alike: the old program twice and the new one, for each seed."""

    old: tuple[float, ...]
    again: tuple[float, ...]
    new: tuple[float, ...]

    @property
    def n(self) -> int:
        return len(self.old)

    @property
    def level(self) -> float:
        """Mean loss of the old program."""
        return sum(self.old + self.again) / (2 * self.n)

    @property
    def effect(self) -> float:
        """Mean of what the new program has more than the mean of the two old ones of the same seed."""
        return sum(c - (a + b) / 2 for a, b, c in zip(self.old, self.again, self.new)) / self.n

    @property
    def noise(self) -> float:
        """Standard deviation of runs that began alike, from the old program against itself."""
        return math.sqrt(sum((a - b) ** 2 for a, b in zip(self.old, self.again)) / (2 * self.n))

    @property
    def error(self) -> float:
        """Standard error of `effect`, if the new program is as noisy as the old one."""
        return self.noise * math.sqrt(1.5 / self.n)

    @property
    def p(self) -> float:
        """How likely an effect at least as large is if there is none: two-sided t-test with `n` degrees of freedom."""
        if self.error == 0:
            return 1.0 if self.effect == 0 else 0.0
        return two_sided_p(self.effect / self.error, self.n)

    @property
    def bound(self) -> float:
        """Half of the width of the 95 % confidence interval of `effect`."""
        return self.error * critical_t(0.05, self.n)

    @property
    def differs(self) -> bool:
        """Whether the new program trains to another loss; also where a loss is no number."""
        if not all(map(math.isfinite, self.old + self.again + self.new)):
            return True
        return self.p < SIGNIFICANCE and abs(self.effect) > NEGLIGIBLE * abs(self.level)

    def __str__(self) -> str:
        scale = 100 / abs(self.level) if self.level else math.nan
        return (
            f"loss of the final evaluation over n={self.n} seeds, the same first weights on both sides: old "
            f"{self.level:.6g}, new {sum(self.new) / self.n:.6g}, effect {self.effect * scale:+.2f} % (95 % interval "
            f"±{self.bound * scale:.2f} %), p={self.p:.2g} in a paired t-test against the noise of old against old, "
            f"which is {self.noise * scale:.2f} %"
        )


def two_sided_p(t: float, freedom: int, steps: int = 2000) -> float:
    """Probability that Student's t is at least as far from 0, by Simpson's rule over the density."""
    density = math.exp(math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2)) / math.sqrt(freedom * math.pi)
    width = abs(t) / steps

    def at(x: float) -> float:
        return density * float((1 + x * x / freedom) ** (-(freedom + 1) / 2))

    inner = sum((4 if i % 2 else 2) * at(i * width) for i in range(1, steps))
    return max(0.0, 1 - 2 * width / 3 * (at(0) + inner + at(abs(t))))


def critical_t(p: float, freedom: int) -> float:
    """The t of which `two_sided_p` is `p`, by bisection."""
    low, high = 0.0, 1000.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if two_sided_p(middle, freedom) > p else (low, middle)
    return high


def compared(runs: Sequence[tuple[float, float, float]]) -> Comparison:
    """From one (old, old again, new) for each seed."""
    old, again, new = zip(*runs)
    return Comparison(old, again, new)

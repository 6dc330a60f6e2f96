"""Where a difference is likely to come from, in one line: what is equal says more than what is not."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from migrator.parity.judge.report import Difference

_STATISTICS = re.compile(r"(^|/)moving_(mean|variance)$")
_ONLY = {
    "steps": "what was trained is equal: how many steps are",  # of which other last weights come
    "weights": "all losses are equal: variables that the losses do not depend on, or have no partner",
    "metrics": "trainings are equal: metrics, or the data and the mode of evaluations",
    "predictions": "trainings are equal: what only predictions compute",
    "exports": "trainings are equal: exports and their signatures",
    "batches": "what was replayed is equal: the input pipeline",
    "initial values": "what was replayed is equal: initializers, or what is loaded at the start",
    "checkpoints": "numbers are equal: where and when checkpoints are written",
    "summaries": "numbers are equal: summaries",
}


@dataclass(frozen=True)
class Parting:
    """When the two trainings of a model parted."""

    loss: int = 0
    """The first step whose loss differs; 0: none."""
    weights: int = 0
    """The step after which a weight differs first; 0: none."""
    most: str = ""
    """The weight that differs most after that step."""
    relative: float = 0.0

    def __str__(self) -> str:
        if not self.weights:
            return ""
        return f"weights first differ after step {self.weights}, most in {self.most} (relative {self.relative:.2g})"


def diagnosis(differences: Sequence[Difference], partings: Iterable[Parting]) -> str:
    """The likely place; empty where nothing differs."""
    for parting in partings if differences else ():
        scope = parting.most.rpartition("/")[0] or parting.most
        if parting.loss == 1:
            return "the first loss differs: forward pass, loss or labels"
        if _STATISTICS.search(parting.most) and not 0 < parting.loss <= parting.weights:
            return f"losses equal until weights are: statistics of batch normalization; most in {scope}"
        if parting.loss and 0 < parting.weights <= parting.loss:
            start = "first loss equal" if parting.loss == 2 else f"losses equal until step {parting.loss - 1}"
            return f"{start}, drift from step {parting.weights + 1}: optimizer, learning rate or gradients; most in {scope}"
        if parting.loss:
            return f"losses equal until step {parting.loss - 1}, and weights: what the loss reads besides them"
        if parting.weights:
            return f"losses equal, weights drift from step {parting.weights}: optimizer or gradients; most in {scope}"
    sections = {difference.section for difference in differences}
    return next((text for section, text in _ONLY.items() if section in sections), "")

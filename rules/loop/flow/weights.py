"""How a model gets its weights: by its first call, as those of layers of Keras."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.function.plan import Plan
from migrator.analyse.statements.modes import ALL_MODES
from migrator.analyse.training.clipping import with_clipping
from migrator.analyse.training.trainop import train_op


@dataclass(frozen=True)
class Weights:
    """Those of a model of which one call makes all."""

    labelled: bool
    """Whether the data of trainings and evaluations are pairs of features and labels."""
    stepped: bool
    """Whether one optimizer of Keras moves all of them, by a step of `fit` itself, so that its own may be made, too."""


def weights_of(plans: list[Plan]) -> Optional[Weights]:
    """The weights of what model_fns become; None if a call of that does not make all."""
    if not plans or not all(map(_is_built, plans)):
        return None
    labelled = all(any("train" in leaf.modes for leaf in plan.tainted) for plan in plans)
    return Weights(labelled, all(map(_is_stepped, plans)))


def _is_built(plan: Plan) -> bool:
    """Whether a call of the model makes all of its weights, whatever it is called for."""
    forward = set(plan.forward)
    layers = [site.leaf for site in plan.sites if not site.layer.weight]  # `__init__` makes weights that are no layer's
    return not plan.fed and all(leaf in forward and leaf.guard == ALL_MODES for leaf in layers)


def _is_stepped(plan: Plan) -> bool:
    """Whether one optimizer of Keras moves all weights, by a step of `fit` itself."""
    try:
        found = train_op(plan)
    except Unsupported:
        return False
    return found is not None and with_clipping(plan, found, alone=True).plain

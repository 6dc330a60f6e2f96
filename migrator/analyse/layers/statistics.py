"""Which layers have moving statistics: variables that training changes beside the optimizer."""

from __future__ import annotations

from migrator.analyse.function.body import Body
from migrator.analyse.function.translate import Layer

LISTED = "# Else Keras 3 leaves their moving statistics out of checkpoints."
"""Said of layers in lists, which `tf.train.Checkpoint` of Keras 3 does not look into."""


def has_moving_statistics(body: Body) -> bool:
    """Whether a model, or a layer of the program, has such variables."""
    return any(moves_statistics(site.layer) for site in body.sites)


def moves_statistics(layer: Layer) -> bool:
    """Whether a layer has some, or what a helper makes that becomes a layer."""
    bodies = [body for body in (layer.helper, *layer.alternatives) if body is not None]
    return layer.moving is not None or any(has_moving_statistics(body) for body in bodies)

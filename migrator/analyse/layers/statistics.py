"""Which layers have weights, and moving statistics: variables that training changes beside the optimizer."""

from __future__ import annotations

from collections.abc import Iterator

from migrator.analyse.function.body import Body
from migrator.analyse.function.translate import Layer

LISTED = "# Else Keras 3 leaves them out of checkpoints, as they are in lists."
"""Said of layers in lists, which `tf.train.Checkpoint` of Keras 3 does not look into."""


def has_moving_statistics(body: Body) -> bool:
    """Whether a model, or a layer of the program, has such variables."""
    return any(moves_statistics(site.layer) for site in body.sites)


def moves_statistics(layer: Layer) -> bool:
    """Whether a layer has some, or what a helper makes that becomes a layer."""
    return layer.moving is not None or any(moves_statistics(inner) for inner in _within(layer))


def has_weights(layer: Layer) -> bool:
    """Whether a layer may have weights of any kind, unlike one that drops or reshapes."""
    told = layer.variables or layer.columns or layer.weight or layer.recurrent or layer.moving is not None
    return bool(told) or layer.helper is not None or layer.keras or layer.vendored


def has_weights_of_no_optimizer(layer: Layer) -> bool:
    """Whether a layer may have some that no optimizer moves: moving statistics, or those of a layer that does not train."""
    kept = layer.moving is not None or any(name == "trainable" for name, _ in layer.arguments)
    return kept or any(has_weights_of_no_optimizer(inner) for inner in _within(layer))


def _within(layer: Layer) -> Iterator[Layer]:
    """The layers of the helpers that make a layer."""
    bodies = (body for body in (layer.helper, *layer.alternatives) if body is not None)
    return (site.layer for body in bodies for site in body.sites)

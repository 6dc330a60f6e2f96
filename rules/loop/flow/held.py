"""Numbers of a RunConfig that a model keeps, as what they are made of is not known where they are needed."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from ..sources import Place, Source
from .objects import of_same_object

NUMBERS = ("save_checkpoints_steps", "save_summary_steps")


def held(place: Place, fields: dict[str, ast.expr]) -> dict[str, ast.expr]:
    """The settings of the Estimator of a place, with the attributes of the model that stand for some of them."""
    settings = place.sources[0].settings
    if place.by_name or len(place.sources) > 1 or settings.directory is None or settings.tpu.use is not None:
        return fields
    return {
        name: value if name not in NUMBERS or stands(place, value) else _attribute(place, name)
        for name, value in fields.items()
    }


def stands(place: Place, node: ast.expr) -> bool:
    """Whether a setting means the same at a place as where the Estimator is made, or is an attribute of the model there."""
    return is_held(place, node) or _is_everywhere(place, node) or of_same_object(place, node)


def is_held(place: Place, node: ast.expr) -> bool:
    """Whether a setting is an attribute of the model."""
    return isinstance(node, ast.Attribute) and node.value is place.receiver


def kept(source: Source, places: Iterable[tuple[Place, dict[str, ast.expr]]]) -> Iterator[tuple[str, ast.expr]]:
    """The attributes that a model is given for places with such settings, with their values."""
    needed = {
        name
        for place, fields in places
        if source in place.sources
        for name in NUMBERS
        if name in fields and is_held(place, fields[name])
    }
    for name in NUMBERS:
        if name in needed and not (source.recorded and name == "save_summary_steps"):
            yield name, source.settings.fields[name]


def _attribute(place: Place, name: str) -> ast.expr:
    recorded = place.sources[0].recorded and name == "save_summary_steps"
    found = ast.Attribute(place.receiver, "summary_steps" if recorded else name, ast.Load())
    return ast.copy_location(found, place.receiver)


def _is_everywhere(place: Place, node: ast.expr) -> bool:
    """Whether an expression of the code that makes an Estimator means the same where it is used."""
    if isinstance(node, ast.Constant):
        return True
    module = place.sources[0].module
    root = node
    while isinstance(root, ast.Attribute):
        root = root.value
    if (
        not isinstance(root, ast.Name)
        or place.module is not module
        or any(s.module is not module for s in place.sources)
    ):
        return False
    scope = module.scope(root).lookup(root.id)
    here = module.scope(place.receiver).lookup(root.id)
    return scope is not None and scope is here and scope.kind == "module" and len(module.bindings(root)) == 1

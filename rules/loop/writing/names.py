"""What the models of a file are called, and the managers of their checkpoints."""

from __future__ import annotations

import ast

from ..loop import Loop
from ..page import Page
from ..places import has_its_line
from ..sources import Source

_PLAIN_NAMES = frozenset({"estimator", "classifier", "regressor", "est", "clf"})
"""Names that say no more than what kind of thing a model was."""


class Names:
    """What the models of a file are called, and the managers of their checkpoints."""

    def __init__(self, loop: Loop, page: Page) -> None:
        self.loop = loop
        self.page = page

    def model(self, source: Source) -> str:
        """`model` instead of `estimator`, where nothing else has that name; what an Estimator is assigned to; else `model`."""
        module, name = source.module, source.name
        if self.is_gone(source) and isinstance(source.model, ast.Name):
            return source.model.id
        if self.is_handed_out(source) and isinstance(source.model, ast.Name):
            return source.model.id
        if name is None:
            return self.page.module.unused_name("model", source.construction.call) if source.target is None else ""
        taken = module.bound_names | set(module.star_import)
        return "model" if self._is_renamed(source) and "model" not in taken else name

    def is_handed_out(self, source: Source) -> bool:
        """Whether a function returns the Estimator of a Keras model that has a name: it returns that model now."""
        model, plain = source.model, source.warm is None and source.settings.tpu.use is None
        if source.returned is None or not isinstance(model, ast.Name) or self.loop.distribution is not None:
            return False
        one = len(source.module.bindings(model)) == 1 and source.settings.directory is not None
        return plain and one and has_its_line(source.module, source.construction.call)

    def is_gone(self, source: Source) -> bool:
        """Whether the program goes on under the name of the Keras model that an Estimator was made of."""
        return source.is_copy and self.loop.is_local(source) and self._are_seen(source)

    def _is_renamed(self, source: Source) -> bool:
        """Whether its name says nothing, and another one may take its place."""
        plain = str(source.name).lower() in _PLAIN_NAMES
        return plain and self.loop.is_local(source) and self._are_seen(source)

    def _are_seen(self, source: Source) -> bool:
        """Whether all places that read its name are seen to become another one."""
        read = {place.receiver for place in self.loop.places if source in place.sources}
        read |= {node for use in self.loop.uses for node in use.hooks.estimators}
        return set(source.module.loads_of(str(source.name), source.scope)) <= read

    def receiver(self, source: Source, node: ast.expr) -> str:
        """A model where it is used."""
        return self.model(source) if source.is_read(self.page.module, node) else self.page.text(node)

    def checkpoint(self, source: Source) -> str:
        """The variable with the checkpoint, while it is restored."""
        return self._named(source, "checkpoint")

    def checkpoints(self, source: Source, model: str) -> str:
        """The manager of checkpoints: a variable where the model has one, else an attribute of the model."""
        return self._named(source, "checkpoints") if self.loop.is_local(source) else f"{model}.checkpoints"

    def restored(self, source: Source, model: str) -> str:
        """The same where the model is used."""
        return (
            self.checkpoint(source) if self.loop.is_local(source) else f"{self.checkpoints(source, model)}.checkpoint"
        )

    def _named(self, source: Source, name: str) -> str:
        """A variable for one of several models."""
        beside = {
            other.name
            for other in self.loop.sources
            if other.scope is source.scope and other.settings.directory is not None and self.loop.is_local(other)
        }
        more = len(beside) > 1 and self.loop.is_local(source)
        return source.module.unused_name(f"{source.name}_{name}" if more else name, source.construction.call)

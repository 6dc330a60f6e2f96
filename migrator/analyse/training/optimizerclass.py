"""Optimizers of the program's own classes: which calls make them, and what their constructors are given."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.function.translate import bind
from migrator.normalise.objects.methods import OwnClass
from migrator.resolve.syntax import walk

if TYPE_CHECKING:
    from migrator.analyse.function.translate import Translations
    from migrator.resolve.project import Definition

_RATES = ("learning_rate", "lr", "rate")


@dataclass
class OptimizerClass(OwnClass):
    """A class of the program that derives from the optimizer of TensorFlow 1."""

    parameters: list[str]
    """Of the constructor, without `self`."""
    rate: str
    """The parameter that is the learning rate."""

    def counter(self) -> ast.Name | None:
        """Where `apply_gradients` reads the global step that it is given."""
        method = self.method("apply_gradients")
        names = [a.arg for a in method.args.args[2:3]] if method is not None else []
        return next((n for n in walk(method) if isinstance(n, ast.Name) and n.id in names), None) if method else None

    def given(self, call: ast.Call) -> dict[str, ast.expr]:
        """The arguments of a construction by parameter, defaults included. Raises Unsupported."""
        constructor = self.method("__init__")
        assert constructor is not None
        defaults = constructor.args.defaults
        own = dict(zip(self.parameters[len(self.parameters) - len(defaults) :], defaults))
        return {**own, **bind(call, " ".join(self.parameters), self.node.name)}


def derives(translations: Translations, definition: Definition) -> bool:
    """Whether a class names the optimizer of TensorFlow 1 as its base."""
    node = definition.node
    return isinstance(node, ast.ClassDef) and any(
        definition.module.resolve(base) in translations.optimizer_bases for base in node.bases
    )


def optimizer_class(definition: Definition) -> OptimizerClass:
    """The class as it is made. Raises Unsupported where its constructor does not tell the learning rate."""
    assert isinstance(definition.node, ast.ClassDef)
    found = OptimizerClass(definition, [], "")
    constructor = found.method("__init__")
    if constructor is None or constructor.args.vararg or constructor.args.kwarg or constructor.args.kwonlyargs:
        raise Unsupported("an optimizer class without a plain constructor is not migrated yet", definition.node)
    found.parameters = [a.arg for a in (*constructor.args.posonlyargs, *constructor.args.args)][1:]
    found.rate = next((name for name in _RATES if name in found.parameters), "")
    if not found.rate:
        raise Unsupported("which argument of this optimizer class is the learning rate is not seen", constructor)
    return found

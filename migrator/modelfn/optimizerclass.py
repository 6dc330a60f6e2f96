"""Optimizers of the program's own classes: which calls make them, and what their constructors are given."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING

from migrator.modelfn.errors import Unsupported
from migrator.modelfn.flow import Leaf
from migrator.modelfn.names import binds
from migrator.modelfn.translate import bind
from migrator.preparing.methods import own_method
from migrator.syntax import walk

if TYPE_CHECKING:
    from migrator.modelfn.body import Body
    from migrator.modelfn.translate import Translations
    from migrator.module import Module
    from migrator.project import Definition

_RATES = ("learning_rate", "lr", "rate")


@dataclass
class OptimizerClass:
    """A class of the program that derives from the optimizer of TensorFlow 1."""

    definition: Definition
    parameters: list[str]
    """Of the constructor, without `self`."""
    rate: str
    """The parameter that is the learning rate."""

    @property
    def node(self) -> ast.ClassDef:
        """The class."""
        assert isinstance(self.definition.node, ast.ClassDef)
        return self.definition.node

    @property
    def module(self) -> Module:
        """The file of the class."""
        return self.definition.module

    def method(self, name: str) -> ast.FunctionDef | None:
        """A method that the class itself defines."""
        return own_method(self.node, name)

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


def rate_of(body: Body, call: ast.Call) -> ast.expr | None:
    """The learning rate of the optimizer that a call makes; None if it makes none, or says no rate."""
    if body.module.resolve(call.func) in body.translations.optimizers:
        given = next((k.value for k in call.keywords if k.arg == "learning_rate"), None)
        place = body.translations.rate_places.get(body.module.resolve(call.func) or "", 0)
        return given if given is not None else (call.args[place] if len(call.args) > place else None)
    own = body.sublayers.optimizer(body.module, call)
    return own.given(call).get(own.rate) if own is not None else None


def makes_optimizer(body: Body, node: ast.expr | None) -> bool:
    """Whether an expression makes an optimizer, of TensorFlow or of the program."""
    if not isinstance(node, ast.Call):
        return False
    known = body.module.resolve(node.func) in body.translations.optimizers
    return known or body.sublayers.optimizer(body.module, node) is not None


def is_training(body: Body, node: ast.expr) -> bool:
    """Whether an expression makes an optimizer, a schedule or a train op."""
    if not isinstance(node, ast.Call):
        return False
    return (
        body.module.resolve(node.func) in body.translations.training
        or body.sublayers.optimizer(body.module, node) is not None
    )


def class_of_optimizer(body: Body, node: ast.expr, at: Leaf) -> tuple[OptimizerClass, ast.Call] | None:
    """The class of the program that an optimizer is of, and its construction; None for TensorFlow's own optimizers."""
    if isinstance(node, ast.Name):
        leaves = body.slicer.reaching(node.id, at.index, "train", at)
        calls = [n for leaf in leaves for n in walk(leaf.node) if isinstance(n, ast.Call)]
    else:
        leaves, calls = [at], [node] if isinstance(node, ast.Call) else []
    owns = [(own, call) for call in calls if (own := body.sublayers.optimizer(body.module, call)) is not None]
    if not owns:
        return None
    if len(leaves) > 1:
        raise Unsupported("an optimizer is of a class of the program on some ways only", owns[0][1])
    return owns[0]


def check_seen(body: Body, node: ast.expr, at: Leaf) -> None:
    """Refuse an optimizer that may be of a class which stays as it is, and which Keras does not take."""
    for value, _ in values_of(body, node, at):
        if not is_training(body, value) and not _is_refused(body, value):
            raise Unsupported("the optimizer is of a class that is not known", value)


def values_of(body: Body, node: ast.expr, at: Leaf, above: tuple[ast.expr, ...] = ()) -> list[tuple[ast.expr, Leaf]]:
    """The expressions that an optimizer may be, and where they stand; `above` are names that have led here."""
    known = isinstance(node, ast.Name) and node not in above
    leaves = body.slicer.reaching(node.id, at.index, "train", at) if isinstance(node, ast.Name) and known else []
    found = [
        pair
        for leaf in leaves
        for child in walk(leaf.node)
        if isinstance(child, ast.Assign) and isinstance(node, ast.Name) and node.id in binds(child)
        for pair in values_of(body, child.value, leaf, (*above, node))
    ]
    return found or [(node, at)]


def _is_refused(body: Body, node: ast.expr) -> bool:
    """Whether a call is refused by its name, which says more."""
    name = body.module.resolve(node.func) if isinstance(node, ast.Call) else None
    return name is not None and body.translations.refused(name)

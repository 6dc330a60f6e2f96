"""Which expressions of a function make optimizers, of TensorFlow or of the program's own classes."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.statements.flow import Leaf
from migrator.analyse.statements.names import binds
from migrator.analyse.training.optimizerclass import OptimizerClass
from migrator.resolve.syntax import walk

if TYPE_CHECKING:
    from migrator.analyse.function.body import Body


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

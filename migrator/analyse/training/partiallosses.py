"""Losses that optimizers minimize beside the loss of the spec, such as those of the two networks of a GAN."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.training.scaledlosses import scaled
from migrator.analyse.training.trainways import same_value
from migrator.analyse.training.updates import (
    GRADIENTS,
    differentiation_arguments,
    gradient_arguments,
    is_method,
    minimize_arguments,
)
from migrator.resolve.syntax import walk

if TYPE_CHECKING:
    from collections.abc import Iterator

    from migrator.analyse.function.plan import Plan
    from migrator.analyse.statements.flow import Leaf


def partial_losses(plan: Plan) -> dict[str, Leaf]:
    """The names of such losses, in the order of use, with the statement that minimizes each. Raises Unsupported."""
    found: dict[str, Leaf] = {}
    if "train" not in plan.specs:
        return found
    loss, end = plan.field("train", "loss"), plan.specs["train"].leaf
    for node, at in _differentiated(plan):
        if not isinstance(node, ast.Name) or loss is None or same_value(plan, node, at, loss, end):
            continue
        if scaled(plan, node, at) is not None:
            continue
        sources = plan.slicer.reaching(node.id, at.index, "train", at)
        if any(leaf in plan.gradients for leaf in sources) or not sources:
            continue
        if set(sources) != set(plan.slicer.reaching(node.id, end.index, "train", end)):
            raise Unsupported(f"`{node.id}` gets another value after its gradients are taken", node)
        if node.id == "loss":
            raise Unsupported("`loss` is minimized, and the spec has another loss", node)
        found.setdefault(node.id, at)
    return found


def _differentiated(plan: Plan) -> Iterator[tuple[ast.expr | None, Leaf]]:
    """What gradients are taken of in training."""
    for leaf in plan.flow.leaves:
        for node in walk(leaf.node) if "train" in leaf.modes else ():
            value: ast.expr | None = None
            if isinstance(node, ast.Call) and is_method(node, "minimize"):
                value = minimize_arguments(node).get("loss")
            elif isinstance(node, ast.Call) and is_method(node, "compute_gradients"):
                value = gradient_arguments(node).get("loss")
            elif isinstance(node, ast.Call) and plan.module.resolve(node.func) == GRADIENTS:
                value = differentiation_arguments(node).get("ys")
            if isinstance(value, ast.List) and len(value.elts) == 1:
                value = value.elts[0]
            yield value, leaf

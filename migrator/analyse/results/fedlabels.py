"""Layers that are applied to labels: decoders that are fed with what they should have said, discriminators of real images.

The model is called with the labels then, ``self(x, labels=y, training=True)``, and predicts without them.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.statements.names import reads

if TYPE_CHECKING:
    from migrator.analyse.function.plan import Plan
    from migrator.analyse.statements.flow import Leaf
    from migrator.emit.modelwriter import ModelWriter

_REASON = "a layer is applied to the labels"


def is_fed(plan: Plan) -> bool:
    """Whether layers are applied to labels, or to what is computed of them, that the forward pass does not apply to features
    for the loss to apply once more.

    Raises Unsupported where predictions, which are made without labels, do not end before.
    """
    fed = [site for site in plan.sites if site.leaf in plan.tainted and not isinstance(site.leaf.node, ast.Return)]
    forward = {site.first or site for site in plan.sites if site.leaf not in plan.tainted}
    if all((site.first or site) in forward and site.leaf not in plan.metric_slice for site in fed):
        return False
    end = plan.specs["infer"].leaf if "infer" in plan.specs else None
    for site in fed:
        early = end is not None and (end.modes != {"infer"} or site.leaf.index < end.index)
        if early or site.layer.inputs is None or "infer" in site.leaf.guard and end is not None:
            raise Unsupported(_REASON, site.call)
    return True


def check_order(plan: Plan) -> None:
    """Raise Unsupported where predictions would have to return from the middle of a loop or a condition."""
    if not returns_predictions(plan):
        return
    end = plan.specs["infer"].leaf.index
    rest = {frame.node for leaf in plan.call_leaves if leaf.index > end for frame in leaf.arms}
    for leaf in plan.call_leaves:
        early = leaf.index < end
        if early and (leaf in plan.tainted or rest & {frame.node for frame in leaf.arms}):
            raise Unsupported(f"{_REASON}, in the middle of what predictions need", leaf.node)


def returns_predictions(plan: Plan) -> bool:
    """Whether the model gives predictions and nothing else where it gets no labels."""
    return plan.fed and "infer" in plan.specs


def only_predicting(plan: Plan, leaves: list[Leaf]) -> list[Leaf]:
    """Of the statements before predictions return, the last ones if they serve nothing else."""
    count = 0
    while plan.fed and count < len(leaves) and leaves[-1 - count].modes == {"infer"}:
        count += 1
    return leaves[len(leaves) - count :]


def reads_only(plan: Plan, value: ast.expr | str, alone: set[Leaf]) -> bool:
    """Whether a value of the forward pass needs a name that only statements of `alone` give a value."""
    names = {value} if isinstance(value, str) else reads(value)
    made = (plan.definitions(name) for name in names)
    return any(found and alone.issuperset(found) for found in made)


def given_labels(generator: ModelWriter) -> str:
    """How steps hand the labels to the model: ``labels=y``, or nothing."""
    return f"{generator.plan.labels}=y" if generator.plan.fed else ""

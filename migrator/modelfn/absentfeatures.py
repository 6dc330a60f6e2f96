"""Features that only training and evaluation look up: `predict` and servers may well be given none by these names."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from migrator.modelfn.errors import Unsupported
from migrator.modelfn.flow import Leaf
from migrator.syntax import walk

if TYPE_CHECKING:
    from migrator.modelfn.plan import Plan

_PREDICTS = re.compile(rb"\.predict\(|[Ee]xport")


def without_absent(plan: Plan, leaves: set[Leaf]) -> set[Leaf]:
    """The statements of `leaves` that need no feature which predictions do not look up."""
    if plan.field("infer", "predictions") is None:
        return leaves
    absent = _readers(plan, plan.flow.leaves)
    kept = set()
    for leaf in leaves:
        needed = {leaf}
        for mode in leaf.modes:
            needed |= plan.slicer.closure(plan.slicer.inputs(leaf), leaf.index, mode, leaf)
        if not needed & set(absent):
            kept.add(leaf)
    return kept


def check_absent(plan: Plan) -> None:
    """Refuse a forward pass that looks up a feature which predictions do without, in a program that makes some.

    Raises Unsupported.
    """
    if plan.field("infer", "predictions") is None:
        return
    found = _readers(plan, plan.call_leaves)
    predicts = any(_PREDICTS.search(module.source) for module in plan.sublayers.project.modules.values())
    for leaf, key in found.items() if predicts else ():
        raise Unsupported(f'layers need the feature "{key}", which predictions are made without', leaf.node)


def _readers(plan: Plan, leaves: Iterable[Leaf]) -> dict[Leaf, str]:
    """The statements that look up a feature which nothing of the predictions looks up, and one of those features."""
    end = plan.specs["infer"]
    known = [*(leaf.node for leaf in plan.prediction_slice), end.leaf.node, *end.fields.values()]
    given = {key for node in known for key in _keys(plan, node)}
    return {leaf: key for leaf in leaves if "infer" not in leaf.guard for key in sorted(_keys(plan, leaf.node) - given)}


def _keys(plan: Plan, node: ast.AST) -> set[str]:
    """The keys of features that a statement looks up."""
    return {
        part.slice.value
        for part in walk(node)
        if isinstance(part, ast.Subscript)
        and isinstance(part.value, ast.Name)
        and part.value.id == plan.features
        and isinstance(part.slice, ast.Constant)
        and isinstance(part.slice.value, str)
    }

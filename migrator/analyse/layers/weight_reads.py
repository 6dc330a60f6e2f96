"""Weights that a model_fn reads by themselves, as the places where the model holds them."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from migrator.analyse.layers.objects import object_of

if TYPE_CHECKING:
    from migrator.analyse.function.body import Body
    from migrator.analyse.layers.site import Site

_LISTS = frozenset({"weights", "variables", "trainable_weights", "trainable_variables"})
_WEIGHTS = frozenset({"kernel", "bias"})
"""Attributes of layers."""


def weight_of(plan: Body, node: ast.expr) -> tuple[Site, str] | None:
    """What makes the variable that an expression is, and how it is read of that; None if the model has no one place for it."""
    site, place = plan.site_of.get(id(node)), ""
    if site is not None and not site.layer.weight:
        return None
    if site is None:
        listed = isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant)
        read = node.value if isinstance(node, ast.Subscript) and listed else node
        if not isinstance(read, ast.Attribute) or read.attr not in (_LISTS if listed else _WEIGHTS):
            return None
        site, place = object_of(plan, read.value), ast.unparse(node)[len(ast.unparse(read.value)) :]
    single = site is not None and site.makes and not site.loops and not site.in_all_turns
    return (site, place) if single and site is not None else None


def weight_path(plan: Body, node: ast.expr) -> str:
    """Where the model holds it, once attributes have names: ``dense.kernel``, ``dense.weights[0]``; empty for anything else."""
    found = weight_of(plan, node)
    return f"{found[0].attribute}{found[1]}" if found is not None and found[0].attribute else ""

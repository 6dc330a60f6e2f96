"""TF1 variable scopes around a statement, and the names that TF1 gave the variables."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from migrator.modelfn.flow import Leaf

if TYPE_CHECKING:
    from migrator.modelfn.body import Body as Plan
    from migrator.modelfn.sites import Site

VARIABLE_SCOPE = "tensorflow.variable_scope"


def scope_calls(plan: Plan, leaf: Leaf) -> list[ast.Call]:
    """The `variable_scope` calls around a leaf, outermost first."""
    found = []
    for frame in leaf.frames:
        if isinstance(frame.node, ast.With):
            for item in frame.node.items:
                call = item.context_expr
                if isinstance(call, ast.Call) and plan.module.resolve(call.func) == VARIABLE_SCOPE:
                    found.append(call)
    return found


def scope_prefix(plan: Plan, leaf: Leaf) -> str | None:
    """The literal scope name around a leaf, such as ``fm/``; None where a part is not literal."""
    parts = []
    for call in scope_calls(plan, leaf):
        name = call.args[0] if call.args else next((k.value for k in call.keywords if k.arg == "name_or_scope"), None)
        if isinstance(name, ast.Constant) and name.value is None or name is None:
            name = next((k.value for k in call.keywords if k.arg == "default_name"), None)
        text = literal_pattern(name)
        if text is None:
            return None
        parts.append(text + "/")
    return "".join(parts)


def literal_pattern(node: ast.expr | None) -> str | None:
    """A literal name; ``*`` stands for what is formatted into it."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod) and isinstance(node.left, ast.Constant):
        import re

        return re.sub(r"%[^a-zA-Z]*[a-zA-Z]", "*", str(node.left.value))
    if isinstance(node, ast.JoinedStr):
        return "".join(str(v.value) if isinstance(v, ast.Constant) else "*" for v in node.values)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "format":
        if isinstance(node.func.value, ast.Constant):
            import re

            return re.sub(r"\{[^}]*\}", "*", str(node.func.value.value))
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        left, right = literal_pattern(node.left), literal_pattern(node.right)
        return None if left is None and right is None else (left or "*") + (right or "*")
    return None


def variable_map(plan: Plan) -> tuple[tuple[str, str], ...]:
    """Pairs of TF1 variable name and attribute path, where both are known from the source."""
    pairs: list[tuple[str, str]] = []
    numbers: dict[str, int] = {}
    for site in plan.sites:
        prefix = scope_prefix(plan, site.leaf)
        if prefix is None:
            continue
        own = _own_name(site, numbers, prefix)
        if own is None:
            continue
        path = site.attribute + ".*" * len(site.loops)
        for tf1, keras in site.layer.variables:
            pairs.append((f"{prefix}{own}{'/' if tf1 and own else ''}{tf1}", f"{path}.{keras}" if keras else path))
    return tuple(pairs)


def _own_name(site: Site, numbers: dict[str, int], prefix: str) -> str | None:
    if site.layer.name is not None:
        return literal_pattern(site.layer.name)
    key = prefix + site.layer.scope
    if site.loops:
        numbers[key] = -1  # how many there are is known at run time only
    if numbers.get(key, 0) < 0:
        return None
    numbers[key] = numbers.get(key, 0) + 1
    return site.layer.scope if numbers[key] == 1 else f"{site.layer.scope}_{numbers[key] - 1}"

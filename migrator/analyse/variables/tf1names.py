"""The names of all variables in TensorFlow 1, by the attributes of the generated model: a table that it has at run time."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.function.translate import is_none
from migrator.analyse.statements.names import enumerated, is_count
from migrator.analyse.statements.walks import Loop
from migrator.analyse.variables.scopes import Sites, names_made, scope_calls, variable_pairs

if TYPE_CHECKING:
    from migrator.analyse.function.body import Body
    from migrator.analyse.function.plan import Plan
    from migrator.analyse.layers.site import Site

_UNKNOWN = "a checkpoint is read by names of variables of which the source does not tell all"


def names_table(plan: Plan, node: ast.AST) -> list[tuple[str, str]]:
    """Pairs of TF1 name and attribute path in the order in which TF1 makes the variables; ``*`` is the place in a list.

    Raises Unsupported where a name is not known from the source, or a variable has none in the graph.
    """
    for site in plan.sites:
        if site.first is None and names_made(plan, site) is None:
            raise Unsupported(_UNKNOWN, site.call)
    found: dict[str, str] = {}
    for name, path, sites in variable_pairs(plan):
        last = sites[-1]
        owner = _owner(plan, sites)
        if last.layer.keras or owner.module.resolve(last.call.func) in plan.translations.initialized:
            raise Unsupported("a checkpoint is read into a variable that scopes of TensorFlow 1 do not hold", last.call)
        if not name or path.endswith(".") or name in found or name.count("*") != path.count("*"):
            raise Unsupported(_UNKNOWN, last.call)
        if "*" in path and _counters(plan, sites) != [loop for site in sites for loop in site.loops]:
            raise Unsupported(_UNKNOWN, last.call)
        found[name] = path
    if not found:
        raise Unsupported("a checkpoint is read into a model without variables of its own", node)
    return list(found.items())


def _owner(plan: Body, sites: Sites) -> Body:
    """The body that the last of some sites stands in."""
    owner: Body = plan
    for site in sites[:-1]:
        assert site.layer.helper is not None
        owner = site.layer.helper
    return owner


def _counters(plan: Body, sites: Sites) -> list[Loop] | None:
    """The loops whose counters a name has in it, in the order in which it has them; None where more is in it."""
    found: list[Loop] = []
    for depth, site in enumerate(sites):
        body = _owner(plan, sites[: depth + 1])
        if len(site.loops) > 1 or _is_chosen(site):
            return None
        parts: list[ast.expr | None] = []
        for call in scope_calls(body, site.leaf):
            name = (
                call.args[0] if call.args else next((k.value for k in call.keywords if k.arg == "name_or_scope"), None)
            )
            parts.append(name)
        if site is sites[-1]:
            parts.append(site.layer.name)
        for part in parts:
            loops = _loops_of(plan, sites[: depth + 1], part)
            if loops is None:
                return None
            found += loops
    return found


def _is_chosen(site: Site) -> bool:
    """Whether only some turns of a loop make the layer, so that places in the list are not those in the loop."""
    kinds = [type(frame.node) for frame in site.leaf.frames]
    return ast.For in kinds and ast.If in kinds[kinds.index(ast.For) :]


def _loops_of(plan: Body, sites: Sites, node: ast.expr | None) -> list[Loop] | None:
    """The loops whose counters are formatted into a name that the last of `sites` uses."""
    if node is None or is_none(node) or isinstance(node, ast.Constant):
        return []
    if isinstance(node, ast.Name) and len(sites) > 1:  # a parameter of the helper
        given = dict(sites[-2].layer.given).get(node.id)
        return _loops_of(plan, sites[:-1], given) if given is not None else None
    values = _formatted(node)
    if values is None:
        return None
    loops = []
    for value in values:
        loop = next((loop for loop in sites[-1].loops if _counts(loop, value)), None)
        if loop is None:
            return None
        loops.append(loop)
    return loops


def _counts(loop: Loop, value: ast.expr) -> bool:
    """Whether a value is the number of the turn of a loop, from zero on."""
    counter = loop.target if is_count(loop.iter) else enumerated(loop)[0]
    return isinstance(value, ast.Name) and isinstance(counter, ast.Name) and value.id == counter.id


def _formatted(node: ast.expr) -> list[ast.expr] | None:
    """The values in a name, each written as a plain number; None for other expressions."""
    if isinstance(node, ast.Constant):
        return []
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        left, right = _formatted(node.left), _formatted(node.right)
        return None if left is None or right is None else left + right
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod) and isinstance(node.left, ast.Constant):
        plain = re.sub(r"%[dsi]", "", str(node.left.value))
        return None if "%" in plain else [*node.right.elts] if isinstance(node.right, ast.Tuple) else [node.right]
    if isinstance(node, ast.JoinedStr):
        fields = [value for value in node.values if isinstance(value, ast.FormattedValue)]
        return None if any(f.format_spec is not None for f in fields) else [field.value for field in fields]
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "str" and len(node.args) == 1:
        return [node.args[0]]
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "format":
        text = node.func.value
        if isinstance(text, ast.Constant) and not re.search(r"\{[^}]", str(text.value)) and not node.keywords:
            return list(node.args)
    return None

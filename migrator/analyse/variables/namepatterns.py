"""What the source tells of the name of a scope, a layer or a variable."""

from __future__ import annotations

import ast
import re

from migrator.analyse.function.translate import is_none

Patterns = dict[str, str]
"""Names that parameters hold, as far as calls tell them; `NO_NAME` for None."""
NO_NAME = "\1"
_HOLE = re.compile(r"%[sd]|\{\}")


def literal_pattern(node: ast.expr | None, names: Patterns | None = None) -> str | None:
    """A literal name; ``*`` stands for what is formatted into it. `names` are known values of parameters."""
    if isinstance(node, ast.Name):
        known = (names or {}).get(node.id)
        return None if known == NO_NAME else known
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else None
    if isinstance(node, ast.JoinedStr):
        return "".join(str(v.value) if isinstance(v, ast.Constant) else _field(v, names) for v in node.values)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod) and isinstance(node.left, ast.Constant):
        values = node.right.elts if isinstance(node.right, ast.Tuple) else [node.right]
        return _formatted(r"%[^a-zA-Z]*[a-zA-Z]", ("%s", "%d"), str(node.left.value), values, names)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "format":
        text = node.func.value.value if isinstance(node.func.value, ast.Constant) else None
        return None if text is None else _formatted(r"\{[^}]*\}", ("{}",), str(text), node.args, names)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        left, right = literal_pattern(node.left, names), literal_pattern(node.right, names)
        return None if left is None and right is None else (left or "*") + (right or "*")
    if isinstance(node, ast.IfExp):
        holds = _holds(node.test, names)
        return None if holds is None else literal_pattern(node.body if holds else node.orelse, names)
    return None


def may_meet(one: str, two: str) -> bool:
    """Whether names, into one of which something is formatted at ``*``, may be the same: what stands before and behind tells."""
    heads, ends = (one.split("*")[0], two.split("*")[0]), (one.split("*")[-1], two.split("*")[-1])
    begin_alike = heads[0].startswith(heads[1]) or heads[1].startswith(heads[0])
    return "*" in one + two and begin_alike and (ends[0].endswith(ends[1]) or ends[1].endswith(ends[0]))


def _holds(test: ast.expr, names: Patterns | None) -> bool | None:
    """Whether a name is given: ``name``, ``not name``, ``name is None``. None where that is not known, or more is asked."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        inner = _holds(test.operand, names)
        return None if inner is None else not inner
    known = (names or {}).get(test.id) if isinstance(test, ast.Name) else None
    if known is not None:
        return None if known == "*" else known not in (NO_NAME, "")
    if isinstance(test, ast.Compare) and is_none(test.comparators[0]) and isinstance(test.left, ast.Name):
        known = (names or {}).get(test.left.id)
        if known is not None and type(test.ops[0]) in (ast.Is, ast.IsNot, ast.Eq, ast.NotEq):
            return (known == NO_NAME) == isinstance(test.ops[0], (ast.Is, ast.Eq))
    return None


def _formatted(field: str, plain: tuple[str, ...], text: str, values: list[ast.expr], names: Patterns | None) -> str:
    """A text with ``*`` in the place of each `field`, or what is known of the value that a `plain` one shows."""
    fields = re.findall(field, text)
    known = len(fields) == len(values) and all(each in plain for each in fields)
    shown = iter([_field(value, names) if known else "*" for value in values])
    return re.sub(field, lambda _: next(shown) if known else "*", text)


def _field(node: ast.expr, names: Patterns | None) -> str:
    """What is known of a value that is formatted into a name."""
    if isinstance(node, ast.FormattedValue):
        if node.conversion != -1 or node.format_spec is not None:
            return "*"
        node = node.value
    return (literal_pattern(node, names) if isinstance(node, ast.Name) else None) or "*"


def parts(node: ast.expr) -> tuple[str, ast.expr | None, str]:
    """A text, or what stands before and behind the one expression in it."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value, None, ""
    template, hole = None, None
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        for side, other in ((node.left, node.right), (node.right, node.left)):
            if isinstance(side, ast.Constant) and isinstance(side.value, str):
                before, inner, after = parts(other)
                return (side.value + before, inner, after) if side is node.left else (before, inner, after + side.value)
    elif (
        isinstance(node, ast.BinOp)
        and isinstance(node.op, ast.Mod)
        and not isinstance(node.right, (ast.Tuple, ast.Dict))
    ):
        template, hole = node.left, node.right
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "format":
        if len(node.args) == 1 and not node.keywords:
            template, hole = node.func.value, node.args[0]
    elif isinstance(node, ast.JoinedStr):
        inside = [value for value in node.values if isinstance(value, ast.FormattedValue)]
        if len(inside) == 1 and inside[0].format_spec is None and inside[0].conversion == -1:
            at = node.values.index(inside[0])
            texts = node.values[:at], node.values[at + 1 :]
            before, after = ("".join(ast.literal_eval(text) for text in some) for some in texts)
            return before, inside[0].value, after
    if isinstance(template, ast.Constant) and isinstance(template.value, str) and hole is not None:
        split = _HOLE.split(template.value)
        if len(split) == 2 and "%" not in "".join(split) and "{" not in "".join(split):
            return split[0], hole, split[1]
    return "", node, ""

"""The opposites of conditions, for those of which only the other arm is left."""

from __future__ import annotations

import ast
from collections.abc import Callable

_OPPOSITES: dict[type[ast.cmpop], str] = {
    ast.Eq: "!=", ast.NotEq: "==", ast.In: "not in", ast.NotIn: "in", ast.Is: "is not", ast.IsNot: "is",
}  # fmt: skip
_SIMPLE = (ast.Name, ast.Attribute, ast.Subscript, ast.Call)


def negated(test: ast.expr, text: Callable[[ast.expr], str]) -> str:
    """The opposite of a condition, of whose parts `text` gives the new text. Comparisons by size stay, as NaN has no order."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not) and isinstance(test.operand, _SIMPLE):
        return text(test.operand)
    if isinstance(test, ast.Compare) and len(test.ops) == 1 and type(test.ops[0]) in _OPPOSITES:
        return f"{text(test.left)} {_OPPOSITES[type(test.ops[0])]} {text(test.comparators[0])}"
    return f"not {text(test)}" if isinstance(test, _SIMPLE) else f"not ({text(test)})"

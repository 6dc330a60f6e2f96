"""Conditions of which only the other arm is left."""

from __future__ import annotations

import ast
from collections.abc import Callable

from migrator.resolve.parsing import expression_tree

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


def without_body(condition: str, lines: list[str], indent: str, unit: str) -> list[str]:
    """``if condition:`` over its lines, as one with the condition that is all that stands below it: ``if a and b:``."""
    inner = f"{indent}{unit}"
    head = lines[0]
    plain = head.startswith(f"{inner}if ") and head.endswith(":") and "\n" not in condition
    below = all(line.startswith(inner + unit) or not line.strip() for line in lines[1:])
    below &= not any(mark in line for line in lines for mark in ('"""', "'''"))  # whose text must not move
    test = head[len(inner) + len("if ") : -1]
    if plain and below and _is_factor(test) and _is_factor(condition):
        return [
            f"{indent}if {condition} and {test}:",
            *(line[len(unit) :] if line.strip() else line for line in lines[1:]),
        ]
    return [f"{indent}if {condition}:", *lines]


def _is_factor(text: str) -> bool:
    """Whether a condition can stand beside `and` without parentheses."""
    try:
        node = expression_tree(text)
    except SyntaxError:
        return False
    return not isinstance(node, (ast.IfExp, ast.Lambda, ast.NamedExpr)) and not (
        isinstance(node, ast.BoolOp) and isinstance(node.op, ast.Or)
    )

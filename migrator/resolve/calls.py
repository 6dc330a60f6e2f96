"""Reading the arguments of a call."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from typing import Optional, Union

from .module import Module
from .syntax import walk

Argument = Union[ast.expr, ast.keyword]


def call_of(module: Module, node: ast.expr) -> Optional[ast.Call]:
    """The call whose function is `node`, or None where the name is only mentioned."""
    parent = module.parent(node)
    return parent if isinstance(parent, ast.Call) and parent.func is node else None


def calls_only_tensorflow(module: Module, node: ast.expr) -> bool:
    """Whether an expression calls nothing but functions of TensorFlow, and binds no name."""
    calls = (part for part in walk(node) if isinstance(part, (ast.Call, ast.NamedExpr)))
    return all(isinstance(n, ast.Call) and (module.resolve(n.func) or "").startswith("tensorflow.") for n in calls)


def has_stars(call: ast.Call) -> bool:
    """Whether the call has ``*args`` or ``**kwargs``, so that its arguments are not all visible."""
    return any(isinstance(a, ast.Starred) for a in call.args) or any(k.arg is None for k in call.keywords)


def bind(call: ast.Call, signature: Sequence[str]) -> Optional[dict[str, ast.expr]]:
    """Arguments of the call by parameter name; None when they cannot be seen.

    `signature` lists the positional parameters in order; keywords that it does not list are answered under their own
    names. None for ``*args``, ``**kwargs``, too many positional arguments, and arguments given twice.
    """
    if has_stars(call) or len(call.args) > len(signature):
        return None
    bound = dict(zip(signature, call.args))
    for keyword in call.keywords:
        assert keyword.arg is not None
        if keyword.arg in bound:
            return None
        bound[keyword.arg] = keyword.value
    return bound


def arguments(call: ast.Call) -> list[Argument]:
    """Positional and keyword arguments in source order."""
    every: list[Argument] = [*call.args, *call.keywords]
    return sorted(every, key=lambda a: (a.lineno, a.col_offset))


def is_literal(value: ast.expr, *expected: object) -> bool:
    """Whether the value is a literal equal to one of `expected`, of the same type."""
    try:
        literal = ast.literal_eval(value)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return False
    return any(type(literal) is type(item) and literal == item for item in expected)


def fills_text(node: ast.AST | None) -> bool:
    """Whether an expression puts values as they are into a text: ``"{}".format(value)``, ``"%s" % value``."""
    if isinstance(node, ast.BinOp):
        return isinstance(node.op, ast.Mod) and isinstance(node.left, ast.Constant) and isinstance(node.left.value, str)
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or node.func.attr != "format":
        return False
    text = node.func.value.value if isinstance(node.func.value, ast.Constant) else None
    return isinstance(text, str) and re.search(r"{\w*[.\[]", text) is None  # which reads a part of the value


def prefixed(node: ast.expr) -> tuple[str, ast.expr] | None:
    """The text before an expression that ends a string: ``"nets." + name``, ``"nets.%s" % name``, ``f"nets.{name}"``."""
    if isinstance(node, ast.BinOp) and isinstance(node.left, ast.Constant) and isinstance(node.left.value, str):
        if isinstance(node.op, ast.Add):
            return node.left.value, node.right
        if isinstance(node.op, ast.Mod) and node.left.value.endswith("%s") and node.left.value.count("%") == 1:
            return node.left.value[:-2], node.right
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "format":
        text = node.func.value.value if isinstance(node.func.value, ast.Constant) else None
        if isinstance(text, str) and text.endswith("{}") and text.count("{") == 1 and len(node.args) == 1:
            return text[:-2], node.args[0]
    if isinstance(node, ast.JoinedStr) and len(node.values) == 2:
        first, second = node.values
        if isinstance(first, ast.Constant) and isinstance(second, ast.FormattedValue) and second.format_spec is None:
            return str(first.value), second.value
    return None

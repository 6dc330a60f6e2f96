"""Division in Python 2: of two integers, `/` gives an integer."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from migrator.python2.numbers import FLOAT, INT, Numbers
from migrator.resolve.module import Module


def with_floor_divisions(text: str) -> str:
    """`text` with `//` between what are integers for certain. Raises SyntaxError."""
    module = Module("<converted>", text)
    numbers = Numbers(module.tree)
    source = module.source
    places = []
    for node, left, right in _divisions(module.tree):
        if numbers.kind(left) == numbers.kind(right) == INT:
            start, end = module.span(left)[1], module.span(right)[0]
            if isinstance(node, ast.AugAssign) or source[start:end].count(b"/") == 1:
                places.append(source.index(b"/", start, end))
    for place in sorted(places, reverse=True):
        source = source[:place] + b"/" + source[place:]
    return source.decode("utf-8", "surrogatepass")


def doubtful(tree: ast.Module) -> Iterator[ast.AST]:
    """Divisions by `/` of what may be two integers, or tensors or arrays of them."""
    numbers = Numbers(tree)
    for node, left, right in _divisions(tree):
        if FLOAT not in (numbers.kind(left), numbers.kind(right)) and not isinstance(left, ast.JoinedStr):
            yield node


def _divisions(tree: ast.Module) -> Iterator[tuple[ast.AST, ast.expr, ast.expr]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
            yield node, node.left, node.right
        elif isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Div):
            yield node, node.target, node.value

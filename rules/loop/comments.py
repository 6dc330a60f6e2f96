"""Comments of a program that are in the way of what is written anew."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator

from migrator.resolve.module import Module


def has_comments(module: Module, node: ast.AST) -> bool:
    """Whether comments stand within a node."""
    start, end = module.span(node)
    return b"#" in module.source[start:end] and any(True for _ in comments(module, start, end))


def comments(module: Module, start: int, end: int) -> Iterator[tuple[int, str]]:
    """The comments in a part of a file that is an expression, with their places."""
    reader = io.BytesIO(b"(" + module.source[start:end] + b")").readline
    lines = [0, *(m.end() for m in re.finditer(b"\n", module.source[start:end]))]
    for token in tokenize.tokenize(reader):
        if token.type == tokenize.COMMENT:
            column = len(token.line[: token.start[1]].encode()) - (1 if token.start[0] == 1 else 0)
            yield start + lines[token.start[0] - 1] + column, token.string

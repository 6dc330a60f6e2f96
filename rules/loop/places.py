"""Whether code of a program may move to another place, or lines be put around it."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from migrator.resolve.module import Module
from migrator.resolve.syntax import walk


def moves(module: Module, statement: ast.stmt, call: ast.Call, values: Iterable[ast.expr]) -> bool:
    """Whether values mean the same at the call as at the statement, which stands in the same block before it."""
    target = module.statement(call)
    block = next((b for b in _blocks(module.parent(statement)) if statement in b and target in b), None)
    if block is None:
        return False
    between = block[block.index(statement) + 1 : block.index(target)]
    read = {ast.unparse(n) for value in values for n in walk(value) if isinstance(n, (ast.Name, ast.Attribute))}
    stored = {
        ast.unparse(n)
        for each in between
        for n in walk(each)
        if isinstance(n, (ast.Name, ast.Attribute)) and not isinstance(n.ctx, ast.Load)
    }
    return not read & stored


def _blocks(node: ast.AST | None) -> list[list[ast.stmt]]:
    found = [getattr(node, name, None) for name in ("body", "orelse", "finalbody")]
    return [block for block in found if isinstance(block, list)]


def has_its_line(module: Module, node: ast.AST) -> bool:
    """Whether lines may be put above and below the statement of a node."""
    statement = module.statement(node)
    (start, end), (first, last) = module.span(statement), module.line_span(statement)
    behind = module.source[end:last].strip()
    alone = not module.source[first:start].strip() and (not behind or behind.startswith(b"#"))
    return alone and module.source[start : start + 4] != b"elif"


def is_simple(node: ast.expr) -> bool:
    """Whether an expression may be written several times."""
    return isinstance(node, (ast.Name, ast.Attribute, ast.Constant))

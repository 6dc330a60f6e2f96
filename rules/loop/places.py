"""Whether code of a program may move to another place, or lines be put around it."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from migrator.resolve.module import Module
from migrator.resolve.syntax import walk

from .rows import Comprehension


def moves(module: Module, statement: ast.stmt, to: ast.AST, values: Iterable[ast.expr]) -> bool:
    """Whether values mean the same at a place as at the statement, which stands in the same block before it."""
    target = module.statement(to)
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


def block_of(module: Module, statement: ast.stmt) -> list[ast.AST]:
    """The statements among which one stands."""
    return next((list[ast.AST](b) for b in _blocks(module.parent(statement)) if statement in b), [statement])


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


def whole(module: Module, node: ast.expr) -> str:
    """An expression, in parentheses where it has lines that hold together by those around it."""
    text = module.segment(node)
    try:
        ast.parse(text, mode="eval")
    except SyntaxError:
        return f"({text})"
    return text


def may_be_none(module: Module, node: ast.expr) -> bool:
    """Whether a name has None for one of its values."""
    return isinstance(node, ast.Name) and any(binding.is_none for binding in module.bindings(node))


def stays(module: Module, node: ast.expr) -> bool:
    """Whether an expression is the same wherever it is written."""
    return isinstance(node, ast.Attribute) or (isinstance(node, ast.Name) and len(module.bindings(node)) == 1)


def line_above(module: Module, node: ast.expr) -> ast.stmt | None:
    """The statement that a line may be put before, to the same effect; None where that is not so."""
    statement = module.statement(node)
    start = module.span(statement)[0]
    first = module.line_span(statement)[0]
    if module.source[first:start].strip():
        return None
    below: ast.AST = node
    for outer in module.ancestors(node):
        if outer is statement:
            break
        if isinstance(outer, (ast.Lambda, ast.IfExp, ast.BoolOp)):
            return None
        if isinstance(outer, Comprehension) and not (outer.generators[0].iter is below or below is outer.generators[0]):
            return None
        if isinstance(outer, ast.comprehension) and outer.iter is not below:
            return None
        below = outer
    if isinstance(statement, ast.While) or (isinstance(statement, ast.For) and below is not statement.iter):
        return None
    chained = isinstance(statement, ast.If) and module.source[start : start + 4] == b"elif"
    return None if chained or isinstance(statement, (ast.FunctionDef, ast.ClassDef, ast.With)) else statement

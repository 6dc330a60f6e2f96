"""Batches that code only looks at: it prints them, or asks which features there are, of what shapes and types."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from migrator.resolve.calls import fills_text
from migrator.resolve.module import Module
from migrator.resolve.reaching import block_of
from migrator.resolve.syntax import walk

_TELLING = frozenset({"print", "len", "list", "sorted", "str", "repr", "type", "isinstance"})
"""Functions of Python that tell of a batch, and change nothing of it."""
_DESCRIBED = frozenset({"shape", "dtype"})
"""What tensors and their specs both have."""


def looked_at(module: Module, line: ast.Assign) -> bool:
    """Whether all that reads the names which a statement gives to a batch, or to its parts, only looks at them."""
    target = line.targets[0]
    names = target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target]
    if not all(isinstance(name, ast.Name) for name in names):
        return False
    return all(
        _is_looked_at(module, load)
        for name in names
        if isinstance(name, ast.Name)
        for load in _reading(module, line, name)
    )


def _reading(module: Module, line: ast.Assign, name: ast.Name) -> Iterator[ast.Name]:
    """What may read the value that a name has of a statement."""
    scope = module.scope(name)
    block = block_of(module, line)
    place = block.index(line)
    bound = [binding.node for binding in module.bindings(name)]
    looped = module.nearest(line, (ast.For, ast.While)) is not None
    again = _next_binding(block, place, bound)
    for load in module.loads_of(name.id, scope.lookup(name.id)):
        if not looped and module.scope(load) is scope and (at := _place_of(module, block, load)) is not None:
            if at <= place or (again is not None and at > again):
                continue
        yield load


def _next_binding(block: Sequence[ast.AST], place: int, bound: Sequence[ast.AST]) -> int | None:
    """The place of the next statement of a block that surely gives the name another value."""
    for index, statement in enumerate(block[place + 1 :], place + 1):
        if isinstance(statement, ast.Assign) and {n for t in statement.targets for n in walk(t)} & set(bound):
            return index
    return None


def _place_of(module: Module, block: Sequence[ast.AST], node: ast.AST) -> int | None:
    """The place of the statement of a block that holds a node."""
    return next((index for index, each in enumerate(block) if module.is_inside(node, each)), None)


def _is_looked_at(module: Module, node: ast.expr) -> bool:
    """Whether the place that reads a batch, or a part of it, only looks at it."""
    parent = module.parent(node)
    if isinstance(parent, (ast.Expr, ast.FormattedValue)):
        return True
    if isinstance(parent, ast.Call) and node in parent.args:
        if isinstance(parent.func, ast.Name):
            return parent.func.id in _TELLING and not module.bindings(parent.func)
        return fills_text(parent)
    if isinstance(parent, ast.Attribute):
        asked = module.parent(parent)
        return parent.attr in _DESCRIBED or (parent.attr == "keys" and isinstance(asked, ast.Call))
    if isinstance(parent, ast.Subscript):
        return parent.value is node and isinstance(parent.ctx, ast.Load) and _is_looked_at(module, parent)
    if isinstance(parent, (ast.Tuple, ast.BinOp)):
        return fills_text(parent if isinstance(parent, ast.BinOp) else module.parent(parent))
    return isinstance(parent, (ast.For, ast.comprehension)) and parent.iter is node and _has_keys(module, node)


def _has_keys(module: Module, node: ast.expr) -> bool:
    """Whether a loop over a batch has a name of a feature each time, as it reads the batch by that."""
    loop = module.parent(node)
    target = loop.target if isinstance(loop, (ast.For, ast.comprehension)) else None
    around = module.parent(loop) if isinstance(loop, ast.comprehension) else loop
    if not isinstance(node, ast.Name) or not isinstance(target, ast.Name) or around is None:
        return False
    read = (n for n in walk(around) if isinstance(n, ast.Subscript) and isinstance(n.value, ast.Name))
    return any(
        n.value.id == node.id and isinstance(n.slice, ast.Name) and n.slice.id == target.id  # type: ignore[attr-defined]
        for n in read
    )

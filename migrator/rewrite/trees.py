"""Trees in which nodes are replaced: one pass over a table; what is not touched keeps its identity."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Union

import libcst as cst

from .nodes import children, fields
from .precedence import in_place_of, with_parts

New = Union[cst.CSTNode, Sequence[cst.CSTNode]]
Table = Mapping[cst.CSTNode, New]
Whole = Callable[[cst.CSTNode], bool]


def replaced(node: cst.CSTNode, table: Table, whole: Whole) -> cst.CSTNode:
    """A tree with the nodes of `table` replaced, in a list also by several or by none.

    `whole` says of a node that none of them is below it. What moves gets the parentheses that it needs at its new place.
    """
    given = table.get(node)
    if given is not None:
        if isinstance(given, cst.CSTNode):
            return in_place_of(given, node)
        raise TypeError(f"several nodes cannot take the place of one {type(node).__name__}")
    if whole(node):
        return node
    changed: dict[str, object] = {}
    for name in fields(node):
        value = getattr(node, name)
        if isinstance(value, cst.CSTNode):
            new = replaced(value, table, whole)
            if new is not value:
                changed[name] = new
        elif isinstance(value, (list, tuple)) and value:
            items = [new for item in value for new in _several(item, table, whole)]
            if len(items) != len(value) or any(one is not other for one, other in zip(items, value)):
                changed[name] = items
    return with_parts(node, changed) if changed else node


def _several(item: object, table: Table, whole: Whole) -> Sequence[object]:
    if not isinstance(item, cst.CSTNode):
        return [item]
    given = table.get(item)
    return given if given is not None and not isinstance(given, cst.CSTNode) else [replaced(item, table, whole)]


def replaced_in(tree: cst.CSTNode, table: Table) -> New:
    """A tree with nodes of `table` replaced, which may become several if it is one of them."""
    given = table.get(tree)
    if given is not None and not isinstance(given, cst.CSTNode):
        return given
    leads = _leads(tree, table)
    return replaced(tree, table, lambda node: node not in leads)


def _leads(tree: cst.CSTNode, table: Table) -> set[cst.CSTNode]:
    """Those nodes of a tree that are in `table`, and those around them."""
    found: set[cst.CSTNode] = set()

    def look(node: cst.CSTNode) -> bool:
        inside = [look(child) for _, child in children(node)] if node not in table else [True]
        if any(inside):
            found.add(node)
        return any(inside)

    look(tree)
    return found

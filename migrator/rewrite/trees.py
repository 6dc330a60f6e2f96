"""Trees in which nodes are replaced: one pass over a table; what is not touched keeps its identity."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Union

import libcst as cst

from .nodes import below, fields, is_node
from .precedence import in_place_of, with_parts

New = Union[cst.CSTNode, Sequence[cst.CSTNode]]
Table = Mapping[cst.CSTNode, New]
Whole = Callable[[cst.CSTNode], bool]


def replaced(node: cst.CSTNode, table: Table, whole: Whole = lambda node: False) -> cst.CSTNode:
    """A tree with the nodes of `table` replaced, in a list also by several or by none.

    `whole` says of a node that none of them is below it. What moves gets the parentheses that it needs at its new place.
    """
    return _replaced(node, {id(old): new for old, new in table.items()}, whole)


def replaced_in(tree: cst.CSTNode, table: Table) -> New:
    """A tree with nodes of `table` replaced, which may become several if it is one of them."""
    given = table.get(tree)
    if given is not None and not isinstance(given, cst.CSTNode):
        return given
    known = {id(old): new for old, new in table.items()}
    leads = _leads(tree, known)
    return _replaced(tree, known, lambda node: id(node) not in leads)


_Known = Mapping[int, New]
"""A table by the ids of its nodes, as libcst hashes nodes in Python."""


def _replaced(node: cst.CSTNode, table: _Known, whole: Whole) -> cst.CSTNode:
    given = table.get(id(node))
    if given is not None:
        if isinstance(given, cst.CSTNode):
            return in_place_of(given, node)
        raise TypeError(f"several nodes cannot take the place of one {type(node).__name__}")
    if whole(node):
        return node
    changed: dict[str, object] = {}
    for name in fields(node):
        value = getattr(node, name)
        if is_node(value):
            new = _replaced(value, table, whole)
            if new is not value:
                changed[name] = new
        elif isinstance(value, (list, tuple)) and value:
            items = [new for item in value for new in _several(item, table, whole)]
            if len(items) != len(value) or any(one is not other for one, other in zip(items, value)):
                changed[name] = items
    return with_parts(node, changed) if changed else node


def _several(item: object, table: _Known, whole: Whole) -> Sequence[object]:
    if not is_node(item):
        return [item]
    given = table.get(id(item))
    return given if given is not None and not isinstance(given, cst.CSTNode) else [_replaced(item, table, whole)]


def _leads(tree: cst.CSTNode, table: _Known) -> set[int]:
    """Those nodes of a tree that are in `table`, and those around them, by their ids."""
    found: set[int] = set()

    def look(node: cst.CSTNode) -> bool:
        leads = id(node) in table
        if not leads:
            for child in below(node):
                leads = look(child) or leads
        if leads:
            found.add(id(node))
        return leads

    look(tree)
    return found

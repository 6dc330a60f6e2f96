"""Walks over libcst trees."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator

import libcst as cst

_FIELDS: dict[type, tuple[str, ...]] = {}


def fields(node: cst.CSTNode) -> tuple[str, ...]:
    """Names of the fields of a node."""
    kind = node.__class__
    if kind not in _FIELDS:
        _FIELDS[kind] = tuple(field.name for field in dataclasses.fields(node) if not field.name.startswith("_"))
    return _FIELDS[kind]


def below(node: cst.CSTNode) -> list[cst.CSTNode]:
    """The nodes right below one: as `children`, for those who look at very many."""
    found: list[cst.CSTNode] = []
    for name in _FIELDS.get(node.__class__) or fields(node):
        value = getattr(node, name)
        kind = value.__class__
        if kind is list or kind is tuple:
            found += [item for item in value if isinstance(item, cst.CSTNode)]
        elif kind is not str and value is not None and isinstance(value, cst.CSTNode):
            found.append(value)
    return found


def children(node: cst.CSTNode) -> Iterator[tuple[str, cst.CSTNode]]:
    """The nodes right below one, each with the field that it stands in; not in source order."""
    for name in fields(node):
        value = getattr(node, name)
        if isinstance(value, cst.CSTNode):
            yield name, value
        elif isinstance(value, (list, tuple)):
            for item in value:
                if isinstance(item, cst.CSTNode):
                    yield name, item


def walk(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """A node and all below it."""
    stack = [node]
    while stack:
        one = stack.pop()
        yield one
        stack += [child for _, child in children(one)]


def way_up(
    root: cst.CSTNode, target: cst.CSTNode, leads: Callable[[cst.CSTNode], bool]
) -> list[tuple[cst.CSTNode, str]]:
    """The nodes from the one around `target` up to `root`, each with the field that leads down.

    `leads` says whether a node may hold the target.
    """
    for name, child in children(root):
        if child is target:
            return [(root, name)]
        if leads(child):
            found = way_up(child, target, leads)
            if found:
                return [*found, (root, name)]
    return []

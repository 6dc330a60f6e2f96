"""Walks over libcst trees."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import libcst as cst

if TYPE_CHECKING:
    from typing_extensions import TypeGuard

_FIELDS: dict[type, tuple[str, ...]] = {}


def fields(node: cst.CSTNode) -> tuple[str, ...]:
    """Names of the fields of a node."""
    kind = node.__class__
    if kind not in _FIELDS:
        _FIELDS[kind] = tuple(field.name for field in dataclasses.fields(node) if not field.name.startswith("_"))
    return _FIELDS[kind]


class Kinds(dict[type, bool]):
    """Whether values of a class are of one kind: what `isinstance` says, which asks classes with abstract methods at length."""

    def __init__(self, kind: type) -> None:
        super().__init__()
        self._kind = kind

    def __missing__(self, kind: type) -> bool:
        found = self[kind] = issubclass(kind, self._kind)
        return found


_IS_NODE = Kinds(cst.CSTNode)


def is_node(value: object) -> TypeGuard[cst.CSTNode]:
    """Whether a value is a node."""
    return _IS_NODE[value.__class__]


def below(node: cst.CSTNode) -> list[cst.CSTNode]:
    """The nodes right below one: as `children`, for those who look at very many."""
    found: list[cst.CSTNode] = []
    for name in _FIELDS.get(node.__class__) or fields(node):
        value = getattr(node, name)
        kind = value.__class__
        if kind is list or kind is tuple:
            found += [item for item in value if _IS_NODE[item.__class__]]
        elif _IS_NODE[kind]:
            found.append(value)
    return found


def children(node: cst.CSTNode) -> Iterator[tuple[str, cst.CSTNode]]:
    """The nodes right below one, each with the field that it stands in; not in source order."""
    for name in fields(node):
        value = getattr(node, name)
        if isinstance(value, (list, tuple)):
            for item in value:
                if is_node(item):
                    yield name, item
        elif is_node(value):
            yield name, value


def walk(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """A node and all below it."""
    stack = [node]
    while stack:
        one = stack.pop()
        yield one
        stack += below(one)


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

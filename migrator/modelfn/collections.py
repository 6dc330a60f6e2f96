"""Losses that a program puts into collections of the graph, and reads from there."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from migrator.modelfn.errors import Unsupported
from migrator.modelfn.flow import Leaf
from migrator.syntax import walk

if TYPE_CHECKING:
    from migrator.modelfn.body import Body
    from migrator.module import Module


class Collections:
    """What one function adds to collections: each loss gets a name, and who reads a collection reads these names.

    Raises Unsupported where it is not seen what a collection holds.
    """

    def __init__(self, body: Body) -> None:
        self._body = body
        self._members: list[tuple[str, str, Leaf]] = []
        """Collection, name of the loss, and the statement that adds it."""
        self.named: dict[int, str] = {}
        """Statements that give a loss a name here, by their identity."""
        readings = [(leaf, *found) for leaf in body.flow.leaves for found in self._readings(leaf)]
        if not readings:
            return
        self._wanted = {key for _, _, keys in readings for key in keys}
        self._taken = {n.id for n in walk(body.function) if isinstance(n, ast.Name)}
        for leaf in body.flow.leaves:
            self._add(leaf)
        self._check_helpers(body.module, body.function, set(), readings[0][1])
        for leaf, call, keys in readings:
            leaf.uses |= {name for key in keys for name in self.members(call, key)}

    def members(self, call: ast.Call, key: str) -> list[str]:
        """Names of the losses that a collection holds where `call` reads it."""
        at = self._leaf_of(call)
        for site in self._body.sites:
            if site.leaf.index > at.index and any("regularizer" in (name or "") for name, _ in site.layer.arguments):
                raise Unsupported("a collection is read before all layers are made", call)
        found = []
        for held, name, leaf in self._members:
            if held != key or leaf.index >= at.index:
                continue
            modes = {"train", "eval"} & at.modes
            if not modes <= leaf.modes or leaf.arms:
                raise Unsupported("a loss is collected under a condition or in a loop", leaf.node)
            if self._body.slicer.reaching(name, at.index, None, at) != self._known_at(name, leaf):
                raise Unsupported(f"`{name}` gets another value after it is collected", leaf.node)
            found.append(name)
        return found

    def _known_at(self, name: str, leaf: Leaf) -> list[Leaf]:
        after = leaf.index + (name in leaf.defs)
        return self._body.slicer.reaching(name, after, None, leaf)

    def _leaf_of(self, call: ast.Call) -> Leaf:
        leaf = self._body.flow.leaf_of(call)
        assert leaf is not None
        return leaf

    def _readings(self, leaf: Leaf) -> list[tuple[ast.Call, tuple[str, ...]]]:
        found = []
        for node in walk(leaf.node):
            if isinstance(node, ast.Call):
                name = self._body.module.resolve(node.func)
                keys = self._body.translations.collections.read(node, name, self._body.module.resolve) if name else ()
                if keys:
                    found.append((node, keys))
        return found

    def _add(self, leaf: Leaf) -> None:
        module, collections = self._body.module, self._body.translations.collections
        for call in [node for node in walk(leaf.node) if isinstance(node, ast.Call)]:
            qualified = module.resolve(call.func)
            added = collections.added(call, qualified, module.resolve) if qualified else None
            if added is None or added[0] not in self._wanted:
                continue
            key, value = added
            alone = isinstance(leaf.node, ast.Expr) and leaf.node.value is call
            if isinstance(leaf.node, ast.Assign) and leaf.node.value is call and len(leaf.node.targets) == 1:
                target = leaf.node.targets[0]
                if isinstance(target, ast.Name) and value is call:
                    self._members.append((key, target.id, leaf))
                    continue
            if not alone:
                raise Unsupported("a loss that is collected is a part of a larger expression", call)
            name = self._free(call.func.attr if isinstance(call.func, ast.Attribute) else "collected")
            node = ast.Assign([ast.Name(name, ast.Store())], value)
            for part in (node, node.targets[0]):
                ast.copy_location(part, leaf.node)
            self.named[id(node)] = name
            leaf.node = node
            leaf.__post_init__()
            self._members.append((key, name, leaf))

    def _free(self, function: str) -> str:
        base = "collected_loss" if function.startswith("add_") else function
        name, number = base, 1
        while name in self._taken:
            number += 1
            name = f"{base}_{number}"
        self._taken.add(name)
        return name

    def _check_helpers(self, module: Module, function: ast.AST, seen: set[int], reading: ast.Call) -> None:
        """Refuse helper functions that add to a collection: nobody here sees what."""
        seen.add(id(function))
        for node in walk(function):
            if not isinstance(node, ast.Call):
                continue
            name = module.resolve(node.func)
            collections = self._body.translations.collections
            own = function is self._body.function
            added = None if own or name is None else collections.added(node, name, module.resolve)
            if added is not None and added[0] in self._wanted:
                raise Unsupported("a helper function adds to a collection that is read here", reading)
            definition = self._body.sublayers.project.definition(module, node.func)
            if definition is not None and id(definition.node) not in seen:
                self._check_helpers(definition.module, definition.node, seen, reading)

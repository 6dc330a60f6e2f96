"""Losses that a program puts into collections of the graph, and reads from there."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.statements.flow import Leaf
from migrator.resolve.project import Definition
from migrator.resolve.syntax import walk

if TYPE_CHECKING:
    from migrator.analyse.function.body import Body
    from migrator.analyse.layers.site import Site
    from migrator.resolve.module import Module

CONDITIONAL = "a loss is collected under a condition or in a loop"
_TRAINED = frozenset({"train", "eval"})


class Collections:
    """What one function adds to collections: each loss gets a name, and who reads a collection reads these names.

    What a helper that becomes a layer adds, or the model under conditions and in loops, the layer keeps itself: in Keras
    by `add_loss`. Raises Unsupported where it is not seen what a collection holds.
    """

    def __init__(self, body: Body) -> None:
        self._body = body
        self._members: list[tuple[str, str, Leaf]] = []
        """Collection, name of the loss, and the statement that adds it."""
        self.named: dict[int, str] = {}
        """Statements that give a loss a name here, by their identity."""
        self.kept: dict[int, tuple[str, ast.expr]] = {}
        """Collection and loss of each statement that lets the layer keep a loss, by the statement's identity."""
        if body.is_helper:
            self._keep_all(body.sublayers.collected)
        readings = [(leaf, *found) for leaf in body.flow.leaves for found in self._readings(leaf)]
        if not readings:
            return
        self._wanted = {key for _, _, keys in readings for key in keys}
        self._taken = {n.id for n in walk(body.function) if isinstance(n, ast.Name)}
        if not body.is_helper:
            body.sublayers.collected |= self._wanted
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
                raise Unsupported(CONDITIONAL, leaf.node)
            if self._body.slicer.reaching(name, at.index, None, at) != self._known_at(name, leaf):
                raise Unsupported(f"`{name}` gets another value after it is collected", leaf.node)
            found.append(name)
        return found

    def _keep_all(self, wanted: set[str]) -> None:
        """Let the layer keep each loss that this helper adds to one of the `wanted` collections."""
        for leaf in self._body.flow.leaves:
            self._keep(leaf, self._adding(leaf, wanted))

    def _adding(self, leaf: Leaf, wanted: set[str]) -> tuple[str, ast.expr] | None:
        """The collection and the loss, if a statement does nothing but add a loss to a collection."""
        call = leaf.node.value if isinstance(leaf.node, ast.Expr) else None
        name = self._body.module.resolve(call.func) if isinstance(call, ast.Call) else None
        if name is None or not isinstance(call, ast.Call):
            return None
        added = self._body.translations.collections.added(call, name, self._body.module.resolve)
        return added if added is not None and added[0] in wanted and added[1] is not call else None

    def is_idle(self, leaf: Leaf) -> bool:
        """Whether a statement only adds to a collection that no code of the program reads."""
        call = leaf.node.value if isinstance(leaf.node, ast.Expr) else None
        name = self._body.module.resolve(call.func) if isinstance(call, ast.Call) else None
        if name != "tensorflow.add_to_collection" or not isinstance(call, ast.Call) or self._body.sites_in(leaf):
            return False
        collections = self._body.translations.collections
        added = collections.added(call, name, self._body.module.resolve)
        modules = self._body.sublayers.project.modules.values()
        return added is not None and not any(
            collections.may_read(other, added[0], module.resolve)
            for module in modules
            for other in module.nodes(ast.Call)
        )

    def _keep(self, leaf: Leaf, added: tuple[str, ast.expr] | None) -> None:
        if added is not None:
            self.kept[id(leaf.node)] = added
            self._body.sublayers.kept.add(added[0])

    def check_kept(self, leaves: Iterable[Leaf]) -> None:
        """Refuse a helper that keeps losses where it is not called in the forward pass, which `leaves` are."""
        call = set(leaves)
        for site in self._body.sites:
            if site.leaf not in call and any(keeps(helper) for helper in helpers_of(site)):
                raise Unsupported("a helper adds to a collection, but the forward pass does not need it", site.call)

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
            if alone and value is not call and (leaf.arms or not _TRAINED <= leaf.modes):
                self._keep(leaf, added)
                continue
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
            leaf.become(node)
            self._body.flow.renumber()
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
            if added is not None and added[0] in self._wanted and not self._is_kept(module, function, added[1] is node):
                raise Unsupported("a helper function adds to a collection that is read here", reading)
            definition = self._body.sublayers.project.definition(module, node.func)
            if definition is not None and id(definition.node) not in seen:
                self._check_helpers(definition.module, definition.node, seen, reading)

    def _is_kept(self, module: Module, function: ast.AST, own_loss: bool) -> bool:
        """Whether a function that adds to a collection becomes a layer, which keeps the loss."""
        sublayers = self._body.sublayers
        if own_loss or not isinstance(function, ast.FunctionDef):
            return False
        return sublayers.makes_layers(Definition(module, function))


def keeps(body: Body) -> bool:
    """Whether a layer keeps losses, itself or in layers that it calls."""
    return bool(body.collections.kept) or any(keeps(helper) for site in body.sites for helper in helpers_of(site))


def helpers_of(site: Site) -> Iterator[Body]:
    """The helpers that a place may call."""
    yield from (helper for helper in (site.layer.helper, *site.layer.alternatives) if helper is not None)

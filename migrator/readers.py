"""Every place that reads a name of a module, in whatever file it stands."""

from __future__ import annotations

import ast
from collections import defaultdict
from typing import TYPE_CHECKING

from migrator.module import Module
from migrator.symbols import Scope

if TYPE_CHECKING:
    from migrator.project import Project

_MAX_HOPS = 8
Place = tuple[Module, ast.expr]


class Readers:
    """Answers who reads a name, through ``from model import make``, ``import model`` and names that are passed on."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self._known: dict[str, dict[tuple[str, str], list[ast.expr]]] = {}

    def of(self, module: Module, scope: Scope, name: str) -> list[Place]:
        """The expressions that read `name`, which `scope` of `module` binds."""
        places: list[Place] = [(module, load) for load in module.loads_of(name, scope)]
        if scope is module.analysis.root:
            written = name.encode()
            for other in self.project.modules.values():
                if written in other.source:
                    places += [(other, node) for node in self._imports(other).get((module.path, name), [])]
        return places

    def _imports(self, module: Module) -> dict[tuple[str, str], list[ast.expr]]:
        """What a module reads of others, by their path and the name."""
        if module.path not in self._known:
            table = self._known[module.path] = defaultdict(list)
            for load, scope in module.analysis.loads:
                holder = scope.lookup(load.id) if load.id in module.analysis.named else None
                for binding in holder.bindings[load.id] if holder is not None else ():
                    if isinstance(binding.node, (ast.Import, ast.ImportFrom)):
                        found = self._imported(module, load, binding.target)
                        if found is not None:
                            table[found[0]].append(found[1])
        return self._known[module.path]

    def _imported(self, module: Module, load: ast.Name, target: str) -> tuple[tuple[str, str], ast.expr] | None:
        """The name of another module that the outer part of a dotted expression stands for, and that part."""
        node: ast.expr = load
        while True:
            parent = module.parent(node)
            attribute = parent if isinstance(parent, ast.Attribute) and parent.value is node else None
            inner = None if attribute is None else f"{target}.{attribute.attr}"
            if attribute is not None and inner is not None and self._module(inner, module) is not None:
                node, target = attribute, inner
                continue
            owner = self._module(target, module)
            if owner is not None:
                return None if attribute is None else (self._origin(owner, attribute.attr), attribute)
            head, _, last = target.rpartition(".")
            owner = self._module(head if head.strip(".") else head + ".", module) if head or target[:1] == "." else None
            return None if owner is None else (self._origin(owner, last), node)

    def _module(self, dotted: str, importer: Module) -> Module | None:
        return self.project.module_named(dotted, importer)

    def _origin(self, module: Module, name: str, hops: int = 0) -> tuple[str, str]:
        """Where a name of a module is bound first: the module may have it from another one."""
        for entry in module.imports:
            if entry.name == name and entry.top_level and hops < _MAX_HOPS:
                head, _, last = entry.target.rpartition(".")
                owner = self._module(head if head.strip(".") else head + ".", module) if head else None
                if owner is not None:
                    return self._origin(owner, last, hops + 1)
        return module.path, name

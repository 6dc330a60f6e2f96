"""Every place that reads a name of a module, in whatever file it stands."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Collection, Iterator
from functools import cached_property
from typing import TYPE_CHECKING

from migrator.resolve.module import Module
from migrator.resolve.symbols import Scope, member

if TYPE_CHECKING:
    from migrator.resolve.project import Project

_MAX_HOPS = 8
Place = tuple[Module, ast.expr]


class Readers:
    """Answers who reads a name, through ``from model import make``, ``import model`` and names that are passed on."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self._known: dict[str, dict[tuple[str, str], list[ast.expr]]] = {}

    def revised(self, project: Project, changed: Collection[str]) -> Readers:
        """Those of a project that differs in the files at some paths, and not in what these import and bind."""
        new = Readers(project)
        new._known = {path: table for path, table in self._known.items() if path not in changed}
        if "_renamed" in self.__dict__:
            new._renamed = self._renamed
        return new

    def of(self, module: Module, scope: Scope, name: str) -> list[Place]:
        """The expressions that read `name`, which `scope` of `module` binds."""
        places: list[Place] = [(module, load) for load in module.loads_of(name, scope)]
        if scope is module.analysis.root:
            spellings = self._spellings(name)
            for other in self.project.modules.values():
                if other.may_name(spellings):
                    places += [(other, node) for node in self._imports(other).get((module.path, name), [])]
        return places

    def elsewhere(self, module: Module, scope: Scope, name: str) -> bool:
        """Whether another file reads or imports `name`, which `scope` of `module` binds."""
        if scope is not module.analysis.root:
            return False
        if any(other is not module for other, _ in self.of(module, scope, name)):
            return True
        for other in self.project.modules.values():
            for entry in other.imports if other is not module and name.encode() in other.source else ():
                owner, last = (
                    self._owner(entry.target, other) if isinstance(entry.statement, ast.ImportFrom) else (None, "")
                )
                if owner is not None and self.origin(owner, last) == (module.path, name):
                    return True
        return False

    def modules(self, module: Module) -> Iterator[tuple[Module, ast.expr]]:
        """The modules of the project that a file reads as such, not for something in them, and where it does."""
        for load, target in self._reads(module):
            node, owner = self._outermost(module, load, target)
            found = self.project.module_behind(owner, module)
            if found is not None and not isinstance(module.parent(node), ast.Attribute):
                yield found, node

    def sources(self, module: Module) -> set[str]:
        """Paths of the files that bind first what a file reads of others."""
        return {path for path, _ in self._imports(module)}

    def _spellings(self, name: str) -> set[str]:
        """A name, and those by which imports call it."""
        found, waiting = {name}, [name]
        while waiting:
            more = self._renamed.get(waiting.pop(), set()) - found
            found |= more
            waiting += more
        return found

    @cached_property
    def _renamed(self) -> dict[str, set[str]]:
        """By names, what ``from model import make as build`` calls them."""
        table: dict[str, set[str]] = defaultdict(set)
        for module in self.project.modules.values():
            for entry in module.imports if b" as " in module.source else ():
                if isinstance(entry.statement, ast.ImportFrom) and entry.alias.asname is not None:
                    table[entry.alias.name].add(entry.name)
        return table

    def _imports(self, module: Module) -> dict[tuple[str, str], list[ast.expr]]:
        """What a module reads of others, by their path and the name."""
        if module.path not in self._known:
            table = self._known[module.path] = defaultdict(list)
            for load, target in self._reads(module):
                found = self._imported(module, load, target)
                if found is not None:
                    table[found[0]].append(found[1])
        return self._known[module.path]

    def _reads(self, module: Module) -> Iterator[tuple[ast.Name, str]]:
        """The names that a module reads of its imports from the project, with what these import."""
        starred = bool(module.imports.stars)
        for load, scope in module.analysis.loads:
            holder = scope.lookup(load.id) if starred or load.id in module.analysis.named else None
            for binding in holder.bindings[load.id] if holder is not None else ():
                if isinstance(binding.node, (ast.Import, ast.ImportFrom)) and self.project.may_hold(binding.target):
                    yield load, binding.target
            source = self.project.star_source(module, load.id) if starred and holder is None else None
            if source is not None:
                yield load, member(source, load.id)

    def _imported(self, module: Module, load: ast.Name, target: str) -> tuple[tuple[str, str], ast.expr] | None:
        """The name of another module that the outer part of a dotted expression stands for, and that part."""
        node, target = self._outermost(module, load, target)
        owner = self.project.module_behind(target, module)
        if owner is not None:
            parent = module.parent(node)
            attribute = parent if isinstance(parent, ast.Attribute) else None
            return None if attribute is None else (self.origin(owner, attribute.attr), attribute)
        owner, last = self._owner(target, module)
        return None if owner is None else (self.origin(owner, last), node)

    def _outermost(self, module: Module, load: ast.Name, target: str) -> tuple[ast.expr, str]:
        """The longest dotted expression from a name on that is a module, or the name itself, with what it stands for."""
        node: ast.expr = load
        while True:
            parent = module.parent(node)
            inner = f"{target}.{parent.attr}" if isinstance(parent, ast.Attribute) else ""
            if not isinstance(parent, ast.Attribute) or self.project.module_behind(inner, module) is None:
                return node, target
            node, target = parent, inner

    def _owner(self, target: str, importer: Module) -> tuple[Module | None, str]:
        """The module that has what an import names, and its name there."""
        head, _, last = target.rpartition(".")
        if not head and target[:1] != ".":
            return None, last
        return self.project.module_behind(head if head.strip(".") else head + ".", importer), last

    def origin(self, module: Module, name: str, hops: int = 0) -> tuple[str, str]:
        """Where a name of a module is bound first: the module may have it from another one."""
        targets = [entry.target for entry in module.imports if entry.name == name and entry.top_level]
        if not targets and name not in module.analysis.root.bindings:
            source = self.project.star_source(module, name)
            targets = [member(source, name)] if source is not None else []
        for target in targets if hops < _MAX_HOPS else ():
            owner, last = self._owner(target, module)
            if owner is not None:
                return self.origin(owner, last, hops + 1)
        return module.path, name

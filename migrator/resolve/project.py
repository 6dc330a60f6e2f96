"""Several modules seen at once: where an imported function lives, and what a name stands for across files."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Union

from migrator.resolve.module import Module
from migrator.resolve.module_names import chosen_patterns
from migrator.resolve.readers import Readers
from migrator.resolve.symbols import dotted, member
from migrator.vocabulary.diagnostics import Fix

Function = Union[ast.FunctionDef, ast.AsyncFunctionDef]


@dataclass(frozen=True)
class Definition:
    """A function or class of the project."""

    module: Module
    node: ast.FunctionDef | ast.ClassDef

    def __hash__(self) -> int:
        return id(self.node)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Definition) and other.node is self.node

    @property
    def name(self) -> str:
        """The name it is defined by."""
        return self.node.name


class Project:
    """The modules of one component, by path."""

    def __init__(
        self,
        modules: Mapping[str, Module],
        fixes: Callable[[Module], list[Fix]] = lambda module: [],
        editable: Iterable[str] | None = None,
    ) -> None:
        self.modules = dict(modules)
        self.editable = frozenset(self.modules if editable is None else editable)
        """Paths of the modules that may be changed; rules only look into the others."""
        self._named: dict[tuple[str, str], str | None] = {}
        self._given: dict[str, frozenset[str]] = {}
        self.fixes = fixes
        """What the file rules propose for a module that is not on disk."""

    def revised(self, changed: Mapping[str, Module]) -> Project:
        """The project with other modules at some of its paths. What names stand for in those that stay is not asked again,
        where none of the others differs in what it imports and binds."""
        new = Project({**self.modules, **changed}, self.fixes, self.editable)
        if changed.keys() <= self.modules.keys():
            new._by_suffix, new._named, new._heads = self._by_suffix, self._named, self._heads
            if all(_outside(self.modules[path]) == _outside(module) for path, module in changed.items()):
                new._given = self._given
                new.readers = self.readers.revised(new, changed)
        return new

    @cached_property
    def _by_suffix(self) -> dict[str, list[str]]:
        """Paths by every dotted name under which their module may be imported."""
        table: dict[str, list[str]] = {}
        for path in self.modules:
            parts = path.replace(os.sep, "/").split("/")
            parts[-1] = parts[-1][:-3] if parts[-1].endswith(".py") else parts[-1]
            if parts[-1] == "__init__":
                parts.pop()
            for start in range(len(parts)):
                table.setdefault(".".join(parts[start:]), []).append(path)
        return table

    @cached_property
    def _heads(self) -> frozenset[str]:
        """The names with which those of modules may begin."""
        return frozenset(dotted.partition(".")[0] for dotted in self._by_suffix)

    def module_named(self, dotted: str, importer: Module) -> Module | None:
        """The project's module that `importer` gets for a (relative or absolute) module name."""
        key = (importer.path, dotted)
        if key not in self._named:
            found = self._find(os.path.dirname(importer.path), dotted)
            self._named[key] = found.path if found is not None else None
        path = self._named[key]
        return None if path is None else self.modules[path]

    def _find(self, folder: str, dotted: str) -> Module | None:
        if dotted.startswith("."):
            tail = dotted.lstrip(".")
            for _ in range(len(dotted) - len(tail) - 1):
                folder = os.path.dirname(folder)
            return self._at(folder, tail)
        sibling = self._at(folder, dotted)
        if sibling is not None:
            return sibling
        paths = self._by_suffix.get(dotted, [])
        return self.modules[paths[0]] if len(paths) == 1 else None

    def _at(self, folder: str, dotted: str) -> Module | None:
        base = os.path.join(folder, *dotted.split(".")) if dotted else folder
        for path in (base + ".py", os.path.join(base, "__init__.py")):
            if path in self.modules:
                return self.modules[path]
        return None

    def names_of(self, module: Module, importer: Module) -> Iterator[str]:
        """The dotted names by which a file may import another one."""
        parts = re.sub(r"(/__init__)?\.py$", "", module.path.replace("\\", "/")).split("/")
        for start in range(len(parts)):
            dotted = ".".join(parts[start:])
            if self.module_named(dotted, importer) is module:
                yield dotted

    def imported(self, importer: Module) -> Iterator[tuple[str, Module]]:
        """The modules of the project that a file imports, or imports something of, as it names them."""
        for entry in importer.imports:
            head, _, _ = entry.target.rpartition(".")
            whole = self.module_named(entry.target, importer) if entry.target.strip(".") else None
            if whole is not None:
                yield entry.target, whole
            above = self.module_named(head, importer) if head.strip(".") else None
            # What holds a module is a package: a module of its name, in it or beside it, is another one.
            if above is not None and (whole is None or os.path.basename(above.path) == "__init__.py"):
                yield head, above
        for pattern in chosen_patterns(importer) if b"import_module" in importer.source else ():
            for module in self.modules.values():
                yield from ((name, module) for name in self.names_of(module, importer) if re.fullmatch(pattern, name))

    @cached_property
    def roots(self) -> frozenset[str]:
        """The folders in which absolute imports of the project have found its files."""
        pairs = [pair for module in self.modules.values() for pair in self.imported(module)]
        return frozenset(_root(target.path, dotted) for dotted, target in pairs if not dotted.startswith("."))

    def definition(self, module: Module, node: ast.expr) -> Definition | None:
        """The function or class that a reference stands for, through imports; None if unknown or ambiguous."""
        if isinstance(node, ast.Name):
            found = module.bindings(node)
            if len(found) == 1 and isinstance(found[0].node, (ast.FunctionDef, ast.ClassDef)):
                return Definition(module, found[0].node)
            if len(found) == 1 and found[0].alias is not None and found[0].alias is not node:
                return self.definition(module, found[0].alias)
        name = self.qualified(module, node)
        return None if name is None else self.exported(name, module)

    def qualified(self, module: Module, node: ast.expr) -> str | None:
        """Like `Module.qualified`, but names that come with all others of a file of the project are answered, too."""
        found = module.qualified(node)
        if found is not None or not module.imports.stars:
            return found
        parts = (dotted(node) or "").split(".")
        root = node
        while isinstance(root, ast.Attribute):
            root = root.value
        if not isinstance(root, ast.Name) or module.scope(root).lookup(root.id) is not None:
            return None
        source = self.star_source(module, root.id)
        return None if source is None else ".".join([member(source, parts[0]), *parts[1:]])

    def star_source(self, module: Module, name: str) -> str | None:
        """The file, as `module` imports it, from which it has a name with all others: ``from .linear import *``.

        None where no such import gives the name, or where one follows of which it is not seen what it gives.
        """
        for entry in reversed(module.imports.stars):
            home = self.module_named(entry.target, module) if entry.top_level else None
            if home is None or home is module:
                return None
            if name in self._given_by_star(home):
                return entry.target
        return None

    def _given_by_star(self, home: Module) -> frozenset[str]:
        """The names that a file gives to those who import all of it."""
        if home.path not in self._given:
            self._given[home.path] = frozenset()  # of files that import each other
            listed = _listed(home)
            found = {name for name in home.analysis.root.bindings if listed is None or not name.startswith("_")}
            for entry in home.imports.stars:
                other = self.module_named(entry.target, home) if entry.top_level else None
                found |= self._given_by_star(other) if other is not None else set()
            self._given[home.path] = frozenset(found if not listed else listed)
        return self._given[home.path]

    def may_hold(self, name: str) -> bool:
        """Whether an imported name may be one of the project; most are those of libraries."""
        return name.startswith(".") or name.partition(".")[0] in self._heads

    def module_behind(self, name: str, importer: Module) -> Module | None:
        """The module that a dotted name stands for, also where a package has it under a name of its own."""
        if not self.may_hold(name):
            return None
        found = self.module_named(name, importer)
        head, _, last = name.rpartition(".")
        if found is None and head.strip("."):
            owner = self.module_behind(head, importer)
            for entry in owner.imports if owner is not None else ():
                if owner is not None and entry.name == last and entry.top_level:
                    return self.module_named(entry.target, owner)
        return found

    def exported(self, name: str, importer: Module, depth: int = 0) -> Definition | None:
        """The definition behind a qualified name such as ``trainer.model.model_fn`` or ``.model.model_fn``."""
        head, _, last = name.rpartition(".")
        if not head or depth > 8:
            return None
        if not head.strip("."):  # `from . import model_fn`
            head = head + "." if not head.endswith(".") else head
        target = self.module_behind(head, importer)
        if target is None:
            return None
        for statement in target.tree.body:
            if isinstance(statement, (ast.FunctionDef, ast.ClassDef)) and statement.name == last:
                return Definition(target, statement)
        for entry in target.imports:
            if entry.name == last and entry.top_level:
                return self.exported(entry.target, target, depth + 1)
        source = self.star_source(target, last) if last not in target.analysis.root.bindings else None
        return None if source is None else self.exported(member(source, last), target, depth + 1)

    def uses(self, definition: Definition, module: Module) -> Iterator[ast.expr]:
        """Every place of a module that reads a function or class: by its name, or as a member of what it stands in."""
        name = definition.name
        if name.encode() not in module.source:
            return
        for node in [*module.loads(name), *_members(module, name)]:
            if self.definition(module, node) == definition:
                yield node

    def subclasses(self, owner: Definition) -> list[Definition]:
        """Classes of the project that derive from the class, also through others."""
        found = dict.fromkeys(self._subclasses.get(owner, []))
        waiting = list(found)
        while waiting:
            more = [one for one in self._subclasses.get(waiting.pop(), []) if one not in found]
            found.update(dict.fromkeys(more))
            waiting += more
        return list(found)

    @cached_property
    def _subclasses(self) -> dict[Definition, list[Definition]]:
        table: dict[Definition, list[Definition]] = {}
        for module in self.modules.values():
            for node in module.nodes(ast.ClassDef) if b"class " in module.source else ():
                for base in {self.definition(module, base) for base in node.bases}:
                    if base is not None:
                        table.setdefault(base, []).append(Definition(module, node))
        return table

    @cached_property
    def readers(self) -> Readers:
        """Who reads a name, in whatever file."""
        return Readers(self)

    def calls(self) -> Iterator[tuple[Module, ast.Call]]:
        """All calls of all modules, in order."""
        for path in sorted(self.modules):
            module = self.modules[path]
            for node in module.nodes(ast.Call):
                yield module, node


def _members(module: Module, name: str) -> list[ast.Attribute]:
    """The places that read a member of that name, in source order."""
    table: dict[str, list[ast.Attribute]] | None = module.memo.get("members")
    if table is None:
        table = module.memo["members"] = {}
        for node in module.nodes(ast.Attribute):
            if isinstance(node.ctx, ast.Load):
                table.setdefault(node.attr, []).append(node)
    return table.get(name, [])


def _outside(module: Module) -> tuple[object, ...]:
    """What a file imports and binds: all of it that other files get at."""
    entries = [(entry.name, entry.target, entry.top_level) for entry in module.imports]
    return entries, module.analysis.root.bindings.keys(), _listed(module)


def _listed(module: Module) -> frozenset[str] | None:
    """The names in ``__all__``; empty where a module has none, None where it is put together."""
    bindings = module.analysis.root.bindings.get("__all__", [])
    statement = module.parent(bindings[0].node) if len(bindings) == 1 and not module.loads("__all__") else None
    try:
        value = ast.literal_eval(statement.value) if isinstance(statement, ast.Assign) else () if not bindings else None
    except ValueError:
        return None
    return frozenset(map(str, value)) if isinstance(value, (list, tuple)) else None


def _root(path: str, name: str) -> str:
    """The folder in which an absolute import has found a file."""
    place = os.path.dirname(path) if os.path.basename(path) == "__init__.py" else path[: -len(".py")]
    for _ in name.split("."):
        place = os.path.dirname(place)
    return place

"""Which library name an expression stands for: imports, simple aliases and Python's scoping rules.

`binding.analyze` notes every binding of every name with its scope, the parent of every node, and every place that reads
a name. `Analysis.raw_names` then answers what a dotted expression may stand for.

A wrong answer here turns into wrong code, so a name that is bound in a way this file does not follow (a parameter, a
loop target, `del`, two different imports) stands for nothing at all.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from migrator.resolve.public_names import public

UNKNOWN = "?"
"""Raw name of a binding that is not an import or an alias of one."""

_ROOTS = re.compile(r"^(?:tensorflow_core|tensorflow)(?=\.|$)")
_ELSEWHERE = (".python.", ".contrib.framework.", ".contrib.learn.")
"""What names have in them that TensorFlow shows by other ones."""
_VERSIONED = re.compile(r"^tensorflow(?:\._api\.v[12])?\.(?:compat|_api)\.v[12](?=\.|$)")


@dataclass(eq=False)  # not frozen: there are tens of thousands, and frozen ones take five times as long to make
class Binding:
    """One place that binds a name. `target` is the raw dotted name of an import, ``UNKNOWN``, or empty for an alias."""

    node: ast.AST
    target: str = UNKNOWN
    alias: ast.expr | None = None
    """Right side of ``name = a.b.c``."""
    is_none: bool = False
    """``name = None``, as in the ``except ImportError`` arm of an optional import."""


class Scope:
    """One namespace: `kind` is ``module``, ``function``, ``class`` or ``comprehension``."""

    __slots__ = ("kind", "node", "parent", "bindings", "globals", "nonlocals", "_cache")

    def __init__(self, kind: str, node: ast.AST, parent: Scope | None) -> None:
        self.kind = kind
        self.node = node
        self.parent = parent
        self.bindings: dict[str, list[Binding]] = {}
        self.globals: set[str] = set()
        self.nonlocals: set[str] = set()
        self._cache: dict[str, frozenset[str]] = {}

    def lookup(self, name: str) -> Scope | None:
        """The scope whose binding a read of `name` in this scope sees; None for builtins and unknown names."""
        scope: Scope | None = self
        first = True
        while scope is not None:
            if name in scope.globals:
                return scope.root()
            visible = first or scope.kind != "class"
            if visible and name in scope.bindings and name not in scope.nonlocals:
                return scope
            # Comprehensions see the class they stand in only through their first iterable, which is visited in the
            # class scope itself.
            first = False
            scope = scope.parent
        return None

    def root(self) -> Scope:
        scope = self
        while scope.parent is not None:
            scope = scope.parent
        return scope

    def holder(self, name: str) -> Scope:
        """The scope in which an assignment to `name` written here lands."""
        if name in self.globals:
            return self.root()
        if name in self.nonlocals:
            scope = self.parent
            while scope is not None and scope.parent is not None:
                if scope.kind == "function" and name in scope.bindings:
                    return scope
                scope = scope.parent
        return self


@dataclass(frozen=True)
class Import:
    """One name bound by one import statement, or a star import (`name` is ``*``)."""

    statement: ast.stmt
    alias: ast.alias
    scope: Scope
    target: str
    """Raw dotted name of what is bound; relative imports keep their leading dots."""
    name: str
    """The name that it is bound to."""

    @property
    def top_level(self) -> bool:
        """Whether the statement binds a module-level name (it may still stand inside ``try`` or ``if``)."""
        return self.scope.kind == "module"


@dataclass
class ImportMap:
    """All imports of a module, in source order."""

    entries: list[Import] = field(default_factory=list)

    def __iter__(self) -> Iterator[Import]:
        return iter(self.entries)

    @property
    def stars(self) -> list[Import]:
        """The star imports."""
        return [entry for entry in self.entries if entry.name == "*"]

    def of(self, target: str) -> list[Import]:
        """Imports whose normalised target is exactly `target`."""
        return [entry for entry in self.entries if normalize(entry.target) == target]


def normalize(raw: str) -> str:
    """``tensorflow.compat.v1.X``, ``tensorflow.compat.v2.X`` and ``tensorflow_core.X`` all become ``tensorflow.X``.

    What private modules hold gets the name by which TensorFlow shows it, if it is known.
    """
    if not raw.startswith("tensorflow"):
        return raw
    name = _ROOTS.sub("tensorflow", raw)
    while True:
        shorter = _VERSIONED.sub("tensorflow", name)
        if shorter == name:
            return public(name) if any(part in name for part in _ELSEWHERE) else name
        name = shorter


def dotted(node: ast.AST) -> str | None:
    """``a.b.c`` for a chain of attributes that starts at a name, else None."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return None
    parts.append(node.id)
    return ".".join(reversed(parts))


def member(module: str, name: str) -> str:
    """The dotted name of what a module has, whose own name may be but dots."""
    return f"{module}{name}" if module.endswith(".") else f"{module}.{name}"


@dataclass
class Analysis:
    """What one walk over a tree found out."""

    root: Scope
    parents: dict[ast.AST, ast.AST]
    imports: ImportMap
    loads: list[tuple[ast.Name, Scope]]
    """Names that are read, in no particular order."""
    scope_of: dict[ast.AST, Scope]
    """Scope in which each ``Name`` node stands."""
    formatted: list[ast.FormattedValue]
    """Replacement fields of f-strings."""
    named: set[str] = field(default_factory=set)
    """Names that an import or an alias binds somewhere in the file: no other name stands for anything."""

    def bindings(self, node: ast.Name) -> list[Binding]:
        """All bindings that a read of this name may see."""
        scope = self.scope_of.get(node)
        holder = scope.lookup(node.id) if scope is not None else None
        return holder.bindings.get(node.id, []) if holder is not None else []

    def raw_names(self, node: ast.AST) -> frozenset[str]:
        """Raw dotted names that the expression may stand for; ``UNKNOWN`` among them where something else is possible.

        Empty for an expression that is not a dotted chain or whose root is not bound in the file.
        """
        suffix: list[str] = []
        while isinstance(node, ast.Attribute):
            suffix.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name):
            return frozenset()
        scope = self.scope_of.get(node)
        if scope is None:
            return frozenset()
        roots = self.root_names(node.id, scope)
        if not suffix or not roots:
            return roots
        tail = "." + ".".join(reversed(suffix))
        return frozenset(name if name == UNKNOWN else name + tail for name in roots)

    def root_names(self, name: str, scope: Scope) -> frozenset[str]:
        """Raw names that a name read in `scope` may stand for."""
        holder = scope.lookup(name)
        if holder is None:
            return frozenset()
        cached = holder._cache.get(name)
        if cached is not None:
            return cached
        # Stops `tf = tf` and alias cycles: while a name is being worked out it stands for nothing.
        holder._cache[name] = frozenset({UNKNOWN})
        bindings = holder.bindings[name]
        if len(bindings) > 1:
            bindings = [b for b in bindings if not b.is_none]
        found: set[str] = set()
        for binding in bindings:
            if binding.alias is not None and len(bindings) == 1:
                found |= self.raw_names(binding.alias) or {UNKNOWN}
            else:
                found.add(binding.target or UNKNOWN)
        holder._cache[name] = frozenset(found)
        return holder._cache[name]

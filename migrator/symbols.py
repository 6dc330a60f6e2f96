"""Which library name an expression stands for: imports, simple aliases and Python's scoping rules.

`analyze` walks a tree once. It notes every binding of every name with its scope, the parent of every node, and every
place that reads a name. `Analysis.raw_names` then answers what a dotted expression may stand for.

A wrong answer here turns into wrong code, so a name that is bound in a way this file does not follow (a parameter, a
loop target, `del`, two different imports) stands for nothing at all.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

UNKNOWN = "?"
"""Raw name of a binding that is not an import or an alias of one."""

_ROOTS = re.compile(r"^(?:tensorflow_core|tensorflow)(?=\.|$)")
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
    """``tensorflow.compat.v1.X``, ``tensorflow.compat.v2.X`` and ``tensorflow_core.X`` all become ``tensorflow.X``."""
    if not raw.startswith("tensorflow"):
        return raw
    name = _ROOTS.sub("tensorflow", raw)
    while True:
        shorter = _VERSIONED.sub("tensorflow", name)
        if shorter == name:
            return name
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


_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)
# Fields that never hold a node with something below it.
_PLAIN_FIELDS = frozenset(
    {"ctx", "op", "ops", "id", "attr", "arg", "lineno", "type_comment", "conversion", "level", "kind"}
)
_NODE_FIELDS: dict[type, tuple[str, ...]] = {}


def _node_fields(kind: type) -> tuple[str, ...]:
    """The fields of a class of nodes that may hold further nodes."""
    fields = tuple(name for name in getattr(kind, "_fields", ()) if name not in _PLAIN_FIELDS)
    _NODE_FIELDS[kind] = fields
    return fields


def analyze(tree: ast.Module) -> Analysis:
    """Walk `tree` once with an explicit stack, so that deep expressions cannot exhaust Python's own."""
    return _Analyzer(tree).run()


class _Analyzer:
    def __init__(self, tree: ast.Module) -> None:
        self.tree = tree
        self.root = Scope("module", tree, None)
        self.result = Analysis(self.root, {}, ImportMap(), [], {}, [])
        self.stack: list[tuple[ast.AST, Scope]] = []
        self.pending: list[tuple[str, Scope, Binding]] = []

    def run(self) -> Analysis:
        stack = self.stack
        loads, scope_of, parents, push = self.result.loads, self.result.scope_of, self.result.parents, stack.append
        known: dict[type, tuple[_Handler | None, tuple[str, ...]]] = {
            kind: (handler, ()) for kind, handler in self._handlers().items()
        }
        # One look-up for each node, and none for the most frequent kinds: this is where the time goes.
        constant, name_node, load = ast.Constant, ast.Name, ast.Load
        self._push_children(self.tree, self.root)
        while stack:
            node, scope = stack.pop()
            kind = node.__class__
            found = known.get(kind)
            if found is None:
                found = known[kind] = (None, _node_fields(kind))
            handler, fields = found
            if handler is not None:
                handler(node, scope)
                continue
            for name in fields:
                value: Any = getattr(node, name, None)
                inner = value.__class__
                for item in value if inner is list else (value,):
                    inner = item.__class__
                    if inner is name_node and item.ctx.__class__ is load:
                        parents[item] = node
                        scope_of[item] = scope
                        loads.append((item, scope))
                    elif inner is constant:
                        parents[item] = node
                    elif item is not None and inner is not str and inner is not int:
                        parents[item] = node
                        push((item, scope))
        self._place_bindings()
        self.result.imports.entries.sort(key=lambda e: (e.statement.lineno, e.statement.col_offset))
        return self.result

    def _place_bindings(self) -> None:
        # `global` and `nonlocal` may stand after a nested use, so bindings land only now. Nonlocal ones go last:
        # they need to know what the enclosing functions bind.
        later = []
        named = self.result.named
        for name, scope, binding in self.pending:
            if binding.target != UNKNOWN:
                named.add(name)
            if name in scope.nonlocals:
                later.append((name, scope, binding))
            else:
                scope.holder(name).bindings.setdefault(name, []).append(binding)
        for name, scope, binding in later:
            scope.holder(name).bindings.setdefault(name, []).append(binding)

    def _bind(self, name: str, scope: Scope, node: ast.AST, target: str = UNKNOWN) -> None:
        self.pending.append((name, scope, Binding(node, target)))

    def _push(self, node: ast.AST | None, scope: Scope, parent: ast.AST) -> None:
        if node is not None:
            self.result.parents[node] = parent
            self.stack.append((node, scope))

    def _push_children(self, node: ast.AST, scope: Scope) -> None:
        parents, push = self.result.parents, self.stack.append
        for name in _NODE_FIELDS.get(node.__class__) or _node_fields(node.__class__):
            value: Any = getattr(node, name, None)
            kind = value.__class__
            if kind is list:
                for item in value:
                    if item.__class__ is ast.Constant:
                        parents[item] = node
                    elif isinstance(item, ast.AST):
                        parents[item] = node
                        push((item, scope))
            elif kind is ast.Constant:
                parents[value] = node
            elif isinstance(value, ast.AST):
                parents[value] = node
                push((value, scope))

    def _handlers(self) -> dict[type, _Handler]:
        handlers: dict[type, _Handler] = {
            ast.Name: self._name,
            ast.Import: self._import,
            ast.ImportFrom: self._import_from,
            ast.FunctionDef: self._function,
            ast.AsyncFunctionDef: self._function,
            ast.Lambda: self._function,
            ast.ClassDef: self._class,
            ast.Global: self._global,
            ast.Nonlocal: self._global,
            ast.ExceptHandler: self._named,
            ast.Assign: self._assign,
            ast.AnnAssign: self._assign,
            ast.NamedExpr: self._walrus,
            ast.FormattedValue: self._formatted,
        }
        handlers.update(dict.fromkeys(_COMPREHENSIONS, self._comprehension))
        for name in ("MatchAs", "MatchStar", "MatchMapping"):  # Python 3.10
            if hasattr(ast, name):
                handlers[getattr(ast, name)] = self._named
        for name in ("TypeVar", "ParamSpec", "TypeVarTuple"):  # Python 3.12
            if hasattr(ast, name):
                handlers[getattr(ast, name)] = self._named
        return handlers

    def _name(self, node: ast.AST, scope: Scope) -> None:
        assert isinstance(node, ast.Name)
        self.result.scope_of[node] = scope
        if isinstance(node.ctx, ast.Load):
            self.result.loads.append((node, scope))
        else:
            self.pending.append((node.id, scope, Binding(node)))

    def _import(self, node: ast.AST, scope: Scope) -> None:
        assert isinstance(node, ast.Import)
        for alias in node.names:
            self.result.parents[alias] = node
            name = alias.asname or alias.name.partition(".")[0]
            target = alias.name if alias.asname else name
            self._bind(name, scope, node, target)
            self.result.imports.entries.append(Import(node, alias, scope, target, name))

    def _import_from(self, node: ast.AST, scope: Scope) -> None:
        assert isinstance(node, ast.ImportFrom)
        base = "." * node.level + (node.module or "")
        for alias in node.names:
            self.result.parents[alias] = node
            if alias.name == "*":
                self.result.imports.entries.append(Import(node, alias, scope, base, "*"))
                continue
            target = base + ("" if base.endswith(".") else ".") + alias.name
            name = alias.asname or alias.name
            self._bind(name, scope, node, target)
            self.result.imports.entries.append(Import(node, alias, scope, target, name))

    def _function(self, node: ast.AST, scope: Scope) -> None:
        assert isinstance(node, _FUNCTIONS)
        inner = Scope("function", node, scope)
        arguments = node.args
        self.result.parents[arguments] = node
        for default in (*arguments.defaults, *arguments.kw_defaults):
            self._push(default, scope, arguments)
        every = [*getattr(arguments, "posonlyargs", []), *arguments.args, *arguments.kwonlyargs]
        for argument in (*every, arguments.vararg, arguments.kwarg):
            if argument is not None:
                self.result.parents[argument] = arguments
                self._push(argument.annotation, scope, argument)
                self._bind(argument.arg, inner, argument)
        if isinstance(node, ast.Lambda):
            self._push(node.body, inner, node)
            return
        self._bind(node.name, scope, node)
        for decorator in node.decorator_list:
            self._push(decorator, scope, node)
        for parameter in getattr(node, "type_params", []):
            self._push(parameter, inner, node)
        self._push(node.returns, scope, node)
        for statement in node.body:
            self._push(statement, inner, node)

    def _class(self, node: ast.AST, scope: Scope) -> None:
        assert isinstance(node, ast.ClassDef)
        self._bind(node.name, scope, node)
        inner = Scope("class", node, scope)
        for child in (*node.decorator_list, *node.bases, *node.keywords):
            self._push(child, scope, node)
        for parameter in getattr(node, "type_params", []):
            self._push(parameter, inner, node)
        for statement in node.body:
            self._push(statement, inner, node)

    def _comprehension(self, node: ast.AST, scope: Scope) -> None:
        assert isinstance(node, _COMPREHENSIONS)
        inner = Scope("comprehension", node, scope)
        for index, generator in enumerate(node.generators):
            self.result.parents[generator] = node
            self._push(generator.target, inner, generator)
            self._push(generator.iter, scope if index == 0 else inner, generator)
            for condition in generator.ifs:
                self._push(condition, inner, generator)
        if isinstance(node, ast.DictComp):
            self._push(node.key, inner, node)
            self._push(node.value, inner, node)
        else:
            self._push(node.elt, inner, node)

    def _global(self, node: ast.AST, scope: Scope) -> None:
        assert isinstance(node, (ast.Global, ast.Nonlocal))
        if scope.kind != "module":
            (scope.globals if isinstance(node, ast.Global) else scope.nonlocals).update(node.names)

    def _named(self, node: ast.AST, scope: Scope) -> None:
        name = getattr(node, "name", None) or getattr(node, "rest", None)
        if isinstance(name, str):
            self._bind(name, scope, node)
        self._push_children(node, scope)

    def _assign(self, node: ast.AST, scope: Scope) -> None:
        assert isinstance(node, (ast.Assign, ast.AnnAssign))
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        value = node.value
        simple = len(targets) == 1 and isinstance(targets[0], ast.Name)
        if simple and value is not None:
            target = targets[0]
            assert isinstance(target, ast.Name)
            none = isinstance(value, ast.Constant) and value.value is None
            if none or (isinstance(value, (ast.Attribute, ast.Name)) and dotted(value) is not None):
                self.pending.append(
                    (target.id, scope, Binding(node, UNKNOWN if none else "", None if none else value, none))
                )
                self.result.parents[target] = node
                self.result.scope_of[target] = scope
                self._push(value, scope, node)
                if isinstance(node, ast.AnnAssign):
                    self._push(node.annotation, scope, node)
                return
        self._push_children(node, scope)

    def _walrus(self, node: ast.AST, scope: Scope) -> None:
        assert isinstance(node, ast.NamedExpr)
        holder = scope
        while holder.kind == "comprehension" and holder.parent is not None:
            holder = holder.parent
        self.result.parents[node.target] = node
        self.result.scope_of[node.target] = holder
        self._bind(node.target.id, holder, node)
        self._push(node.value, scope, node)

    def _formatted(self, node: ast.AST, scope: Scope) -> None:
        assert isinstance(node, ast.FormattedValue)
        self.result.formatted.append(node)
        self._push_children(node, scope)


if TYPE_CHECKING:
    from collections.abc import Callable

    _Handler = Callable[[ast.AST, Scope], None]

"""One walk over a tree that notes what binds names, what reads them, and where every node stands."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from .symbols import UNKNOWN, Analysis, Binding, Import, ImportMap, Scope, dotted
from .syntax import AnnotatedAssign

_Handler = Callable[[ast.AST, Scope], None]
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
        attribute, keyword = ast.Attribute, ast.keyword  # nothing but their value is below them
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
                    above = node
                    while inner is attribute or inner is keyword:
                        parents[item] = above
                        above = item
                        item = item.value
                        inner = item.__class__
                    if inner is name_node and item.ctx.__class__ is load:
                        parents[item] = above
                        scope_of[item] = scope
                        loads.append((item, scope))
                    elif inner is constant:
                        parents[item] = above
                    elif item is not None and inner is not str and inner is not int:
                        parents[item] = above
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
            AnnotatedAssign: self._assign,
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
                if isinstance(node, (ast.AnnAssign, AnnotatedAssign)):
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

"""Functions that return a function of their own, which makes layers: both become one, which gets the arguments of both.

    def generator(size):
        blocks = (size - 2) // 6

        def network(inputs, training):
            …
        return network

is called ``generator(inputs, training, size=params["size"])`` then, where ``generator(params["size"])`` made `network`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from migrator import rewrite
from migrator.analyse.statements.names import reads
from migrator.normalise.draft.arguments import defaults, given, parameters
from migrator.normalise.draft.draft import Change, Drafts
from migrator.normalise.draft.local_names import binds_locally
from migrator.normalise.draft.returns import own_returns
from migrator.resolve.module import Module
from migrator.resolve.project import Project
from migrator.resolve.syntax import is_name, walk
from migrator.rewrite import Remove, Replace, Statement, expr, with_arguments, with_body, with_function, with_parameters
from migrator.vocabulary.unsupported import Unsupported

if TYPE_CHECKING:
    import libcst as cst

_ODD = (ast.Nonlocal, ast.Global, ast.Yield, ast.YieldFrom, ast.Await)
_MAKERS = (
    "tensorflow.get_variable", "tensorflow.Variable", "tensorflow.layers.", "tensorflow.keras.", "tensorflow.contrib.",
    "tensorflow.compat.",
)  # fmt: skip
_PLAIN = ("_initializer", "_regularizer")
_LASTING = (ast.Name, ast.Attribute, ast.Constant, ast.Subscript, ast.expr_context)
_PLAIN_CALLS = frozenset({"int", "float", "str", "bool", "len"})

Wanted = list[tuple[Module, rewrite.Change]]


def uncurried(drafts: Drafts, module: Module, inner: ast.FunctionDef) -> list[Change]:
    """The edits that make one function of a nested one and of that around it; none where this does not return it. Raises
    Unsupported."""
    outer = module.parent(inner)
    if not isinstance(outer, ast.FunctionDef) or not isinstance(module.parent(outer), ast.Module):
        return []
    last = outer.body[-1]
    if not isinstance(last, ast.Return) or last.value is None or not is_name(last.value, inner.name):
        return []
    _check(module, outer, inner, last)
    both = _Curried(drafts.project, inner)
    body = inner.body[1:] if ast.get_docstring(inner, clean=False) is not None else inner.body
    before = [statement for statement in outer.body if statement is not inner and statement is not last]
    if ast.get_docstring(outer, clean=False) is None and body is not inner.body:
        before.insert(0, inner.body[0])
    rows = module.cst.statements([*before, *body])
    changes: Wanted = [(module, Replace(outer, with_body(both.head(module, outer), rows)))]
    return Change.every([*changes, *both.users(module, outer)])


def _check(module: Module, outer: ast.FunctionDef, inner: ast.FunctionDef, last: ast.Return) -> None:
    """Refuse functions that are not the same in one piece."""
    if own_returns(outer) != [last] or outer.decorator_list or inner.decorator_list:
        raise Unsupported("a function that returns one of several functions is not followed", outer)
    args = (outer.args, inner.args)
    if any(each.vararg or each.kwarg for each in args) or any(isinstance(node, _ODD) for node in walk(outer)):
        raise Unsupported("a function that returns one with * or ** is not followed", inner)
    mentions = [n for n in walk(outer) if isinstance(n, ast.Name) and n.id == inner.name]
    if mentions != [last.value] or not all(isinstance(value, ast.Constant) for value in defaults(inner).values()):
        raise Unsupported("a function that is returned is used otherwise as well", inner)
    before = [statement for statement in outer.body if statement is not inner]
    own = set(parameters(inner)).union(*map(binds_locally, inner.body))
    around = set(parameters(outer)).union(*map(binds_locally, before)) - {inner.name}
    clash = own & (around | reads(before))
    if clash:
        raise Unsupported(f"`{min(clash)}` is another one in a function that is returned", inner)
    for statement in before:
        _check_before(module, statement)


def _check_before(module: Module, statement: ast.stmt) -> None:
    """Refuse layers and variables that the outer function makes, however often the inner one is called."""
    for node in walk(statement):
        name = module.resolve(node.func) if isinstance(node, ast.Call) else None
        if name is not None and name.startswith(_MAKERS) and not name.endswith(_PLAIN):
            raise Unsupported("a function makes layers, and returns one that applies them", node)


@dataclass(frozen=True)
class _Curried:
    """What becomes of all that call a function that returns `inner`."""

    project: Project
    inner: ast.FunctionDef

    def head(self, module: Module, outer: ast.FunctionDef) -> Statement:
        """A function with the parameters of the inner one before its own."""
        names = [*parameters(self.inner), *parameters(outer)]
        default = {**defaults(self.inner), **defaults(outer)}
        texts = {name: module.segment(value) for name, value in default.items() if name not in defaults(self.inner)}
        texts.update({name: ast.unparse(value) for name, value in defaults(self.inner).items()})
        if len(set(names)) < len(names) or any("\n" in text for text in texts.values()):
            raise Unsupported("a function and the one that it returns have parameters of one name", outer)
        order = sorted(names, key=lambda name: name in texts)
        return with_parameters(
            module.cst.statement(outer), instead=[f"{n}={texts[n]}" if n in texts else n for n in order]
        )

    def users(self, module: Module, outer: ast.FunctionDef) -> Wanted:
        """The changes for all that call `outer`. Raises Unsupported where what it returns is not only called."""
        wanted: Wanted = []
        for where, node in self.project.readers.of(module, module.analysis.root, outer.name):
            call = where.parent(node)
            if not isinstance(call, ast.Call) or call.func is not node or where.path not in self.project.editable:
                raise Unsupported("a function that returns another one is handed around", node)
            statement = where.statement(call)
            holder = where.parent(statement)
            if isinstance(statement, ast.Return) and statement.value is call and isinstance(holder, ast.FunctionDef):
                wanted += self._returned(where, holder, statement, call, outer)
                continue
            applied = list(self._applied(where, call))
            if any(one is not other and one in walk(other) for one in applied for other in applied):
                raise Unsupported("a function is applied to what it gives itself", call)
            lasting = len(applied) == 1 and applied[0].func is call
            for each in applied:
                if not lasting:
                    self._check_lasting(where, call, each)
                wanted.append((where, Replace(each, self._call(where, call, outer, each))))
            if not lasting:
                wanted.append((where, Remove(statement)))
        return wanted

    def _returned(
        self, where: Module, holder: ast.FunctionDef, statement: ast.Return, call: ast.Call, outer: ast.FunctionDef
    ) -> Wanted:
        """The changes for a function that returns what another one returns, which is the inner function."""
        if not isinstance(where.parent(holder), ast.Module) or own_returns(holder) != [statement]:
            raise Unsupported("a function that returns another one is handed around", call)
        taken = set(parameters(holder)).union(*map(binds_locally, holder.body)) | reads(holder.body)
        if taken & set(parameters(self.inner)) or holder.decorator_list or holder.args.vararg or holder.args.kwarg:
            raise Unsupported("a function that returns another one has a name of its parameters", holder)
        for each in holder.body:
            _check_before(where, each)
        own = {name: expr(name) for name in parameters(self.inner)}
        by_place = [own.pop(name) for name in parameters(self.inner) if not defaults(self.inner)]
        given(outer, call)  # refuses what is hidden
        named = {at: name for at, name in enumerate(parameters(outer)[: len(call.args)]) if own}
        made = with_function(where.cst.call(call), where.cst.expression(call.func))
        new = with_arguments(made, named=named, insert={0: by_place} if by_place else {}, add=own)
        rows = where.cst.statements(holder.body, lambda node: new if node is call else None)
        changes: Wanted = [(where, Replace(holder, with_body(self.head(where, holder), rows)))]
        return [*changes, *self.users(where, holder)]

    def _applied(self, where: Module, call: ast.Call) -> Iterator[ast.Call]:
        """The calls of what a call gives. Raises Unsupported where something else is done with it."""
        parent = where.parent(call)
        if isinstance(parent, ast.Call) and parent.func is call:
            yield parent
            return
        target = parent.targets[0] if isinstance(parent, ast.Assign) and len(parent.targets) == 1 else None
        scope = where.scope(call).lookup(target.id) if isinstance(target, ast.Name) else None
        if not isinstance(target, ast.Name) or scope is None or scope.kind != "function":
            raise Unsupported("a function that another one returns is handed around", call)
        loads = where.loads_of(target.id, scope)
        if len(scope.bindings[target.id]) != 1 or not loads:
            raise Unsupported("a function that another one returns is one of several", call)
        for load in loads:
            user = where.parent(load)
            if not isinstance(user, ast.Call) or user.func is not load or where.scope(load) is not where.scope(call):
                raise Unsupported("a function that another one returns is handed around", load)
            yield user

    @staticmethod
    def _check_lasting(where: Module, call: ast.Call, applied: ast.Call) -> None:
        """Refuse arguments of the outer function that may have other values where the inner one is called."""
        for value in (*call.args, *(keyword.value for keyword in call.keywords)):
            for node in walk(value):
                plain = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _PLAIN_CALLS
                if not plain and not isinstance(node, _LASTING):
                    raise Unsupported("an argument is computed for a function that another one returns", value)
                if isinstance(node, ast.Name):
                    places = [binding.node for binding in where.bindings(node)]
                    if any(getattr(place, "lineno", 0) > call.lineno for place in places):
                        raise Unsupported(f"`{node.id}` may have another value later", node)

    def _call(self, where: Module, call: ast.Call, outer: ast.FunctionDef, applied: ast.Call) -> cst.Call:
        """The call of both functions at once."""
        given(self.inner, applied)  # refuses what is hidden
        needed = [name for name in parameters(self.inner) if name not in defaults(self.inner)]
        named = {at: parameters(self.inner)[at] for at in range(len(needed), len(applied.args))}
        more = {name: where.cst.expression(value) for name, value in given(outer, call).items()}
        by_place = [name for name in parameters(outer)[: len(call.args)] if name not in self._behind(outer)]
        if len(applied.args) < len(needed):
            by_place = []
        made = with_function(where.cst.call(applied), where.cst.expression(call.func))
        first = {len(needed): [more.pop(name) for name in by_place]} if by_place else {}
        return with_arguments(made, named=named, insert=first, add=more)

    def _behind(self, outer: ast.FunctionDef) -> set[str]:
        """The parameters of `outer` that come behind some of the inner function."""
        return set(defaults(outer)) if defaults(self.inner) else set()

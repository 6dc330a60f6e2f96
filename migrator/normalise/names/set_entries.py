"""Entries that a model_fn sets in its params become its variables.

An Estimator gives its model_fn a copy of the params for each mode, so that nobody else ever sees what becomes of them.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from migrator import rewrite
from migrator.analyse.statements.names import MUTATORS
from migrator.normalise.draft.arguments import given
from migrator.normalise.draft.draft import Change, Drafts
from migrator.normalise.draft.stuck import Stuck
from migrator.normalise.functions.partials import PARTIAL
from migrator.normalise.names.spelled_entries import text_key, written
from migrator.normalise.objects.reserved import PARAMS
from migrator.resolve.module import Module
from migrator.resolve.project import Definition, Project
from migrator.resolve.syntax import is_name, walk
from migrator.rewrite import Insert, Remove, Replace, expr, statements, with_arguments

_COPIES = frozenset({"copy.deepcopy", "copy.copy", "dict"})
_READING = frozenset({"get", "items", "keys", "values"})
_LOOKING = ("tensorflow.", "logging.", "json.", "copy.", "pprint.")
"""Libraries whose functions change no dict that they are given."""
_DEPTH = 4
"""How many calls deep params are followed."""


def set_entries(drafts: Drafts, definition: Definition) -> list[Change]:
    """The changes for one entry that a model_fn sets; none where there is no more, or where it has to stay."""
    module, function = definition.module, definition.node
    if not isinstance(function, ast.FunctionDef) or not gets_a_copy(drafts, definition):
        return []
    uses = _uses(drafts.project, module, function)
    if uses is None:
        return []
    for key in dict.fromkeys(key for key, _ in uses.stores):
        changes = _Entry(uses, key).changes()
        if changes:
            return Change.of(module, *changes)
    return []


def gets_a_copy(drafts: Drafts, definition: Definition) -> bool:
    """Whether params are what an Estimator gives: nobody calls the function itself, or fills them in."""
    module, function = definition.module, definition.node
    if not isinstance(function, ast.FunctionDef) or PARAMS not in [a.arg for a in function.args.args]:
        return False
    holder = module.parent(function)
    if isinstance(holder, ast.ClassDef) or (module.path, function.name) in drafts.shared_params:
        return False
    for other, reference in drafts.project.readers.of(module, module.scope(holder or module.tree), function.name):
        parent = other.parent(reference)
        if not isinstance(parent, ast.Call):
            continue
        bound = other.resolve(parent.func) == PARTIAL and (
            len(parent.args) > 1 or any(k.arg in (None, PARAMS) for k in parent.keywords)
        )
        if parent.func is reference or bound:
            return False
    return True


@dataclass(frozen=True)
class _Uses:
    """What a model_fn does with its params."""

    module: Module
    function: ast.FunctionDef
    copy: ast.stmt | None
    """What copies them first."""
    stores: tuple[tuple[str, ast.stmt], ...]
    """The statements that set entries, with their keys, in order."""
    reads: tuple[tuple[str, ast.expr], ...]
    asked: tuple[tuple[str, ast.expr], ...]
    """``params.get("units", 3)`` and ``"units" in params``."""
    whole: tuple[ast.Name, ...]


def _uses(project: Project, module: Module, function: ast.FunctionDef) -> _Uses | None:
    """None where something else is done than what is followed here."""
    scope, copy = module.scope(function), None
    found: dict[str, list[tuple[str, ast.AST]]] = {"stores": [], "reads": [], "asked": []}
    whole: list[ast.Name] = []
    names = [node for node in walk(function) if isinstance(node, ast.Name) and node.id == PARAMS]
    for node in sorted(names, key=place_of):
        if module.scope(node).lookup(PARAMS) is not scope or module.nearest(node, ast.JoinedStr) is not None:
            return None
        statement = module.statement(node)
        if _is_copy(module, function, statement):
            if found["stores"] or found["reads"] or (copy not in (None, statement)):
                return None
            copy = statement
            continue
        kind, key, place = _kind(module, node)
        if kind == "stores" and module.scope(place) is not scope:
            return None
        if kind in found:
            found[kind].append((key, place))
        elif kind == "whole" and not _is_changed(project, module, node):
            whole.append(node)
        else:
            return None
    stores, reads, asked = (tuple(found[kind]) for kind in ("stores", "reads", "asked"))
    return _Uses(module, function, copy, stores, reads, asked, tuple(whole))  # type: ignore[arg-type]


def _is_copy(module: Module, function: ast.FunctionDef, statement: ast.stmt) -> bool:
    """Whether a statement of a function is ``params = copy.deepcopy(params)``, or another copy of them."""
    if not isinstance(statement, ast.Assign) or statement not in function.body or len(statement.targets) != 1:
        return False
    call = statement.value
    if not is_name(statement.targets[0], PARAMS) or not isinstance(call, ast.Call) or call.keywords:
        return False
    maker = call.func.id if isinstance(call.func, ast.Name) and not module.bindings(call.func) else None
    known = (module.resolve(call.func) or maker) in _COPIES
    return known and len(call.args) == 1 and is_name(call.args[0], PARAMS)


def _kind(module: Module, node: ast.Name) -> tuple[str, str, ast.AST]:
    """What one place does with the params: ``stores``, ``reads`` or ``asked`` of a key, ``whole``, or something else."""
    parent, key = module.parent(node), None
    other = "", "", node
    if not isinstance(node.ctx, ast.Load):
        return other
    if isinstance(parent, ast.Subscript) and parent.value is node:
        key = text_key(parent.slice)
        if key is None:
            return ("whole", "", node) if isinstance(parent.ctx, ast.Load) else other
        return _of_entry(module, parent, key)
    if isinstance(parent, ast.Attribute):
        call = module.parent(parent)
        if not isinstance(call, ast.Call) or call.func is not parent:
            return other
        key = text_key(call.args[0]) if call.args else None
        if parent.attr == "get" and key is not None:
            return "asked", key, call
        if parent.attr == "setdefault" and key is not None and len(call.args) == 2:
            statement = module.parent(call)
            return ("stores", key, statement) if isinstance(statement, ast.Expr) else other
        return ("whole", "", node) if parent.attr in _READING else other
    if isinstance(parent, ast.Compare) and parent.comparators == [node]:
        key = text_key(parent.left)
        return ("asked", key, parent) if key is not None else ("whole", "", node)
    return "whole", "", node


def _of_entry(module: Module, entry: ast.Subscript, key: str) -> tuple[str, str, ast.AST]:
    """What one place does with an entry of the params."""
    parent, statement = module.parent(entry), module.statement(entry)
    if isinstance(entry.ctx, ast.Store):
        alone = isinstance(parent, ast.AugAssign) or isinstance(parent, ast.Assign) and len(parent.targets) == 1
        return ("stores" if alone and parent is statement else "", key, statement)
    if isinstance(entry.ctx, ast.Del):
        return "", key, entry
    while isinstance(parent, ast.Subscript) and parent.value is not entry:
        parent = module.parent(parent)
    inner: ast.AST = entry
    while isinstance(parent, (ast.Subscript, ast.Attribute)) and parent.value is inner:
        if not isinstance(parent.ctx, ast.Load):
            return "", key, entry
        if isinstance(parent, ast.Attribute) and parent.attr in MUTATORS:
            followed = inner is entry and grown(module, parent) is not None
            return ("stores" if followed else "", key, statement)
        inner, parent = parent, module.parent(parent)
    return "reads", key, entry


def grown(module: Module, method: ast.Attribute) -> str | None:
    """What a list becomes by a statement that appends to it, as a template with the list and the argument."""
    call = module.parent(method)
    if not isinstance(call, ast.Call) or call.func is not method or call.keywords:
        return None
    if not isinstance(module.parent(call), ast.Expr):
        return None
    if method.attr == "append" and len(call.args) == 1:
        return "[*{old}, {new}]"
    if method.attr == "extend" and len(call.args) == 1:
        return "[*{old}, *{new}]"
    at_front = method.attr == "insert" and len(call.args) == 2 and ast.unparse(call.args[0]) == "0"
    return "[{new}, *{old}]" if at_front else None


def place_of(node: ast.AST) -> tuple[int, int]:
    """Where a node begins."""
    return node.lineno, node.col_offset  # type: ignore[attr-defined]


def _is_changed(project: Project, module: Module, node: ast.Name, depth: int = 0) -> bool:
    """Whether what gets the params whole may change them."""
    parent = module.parent(node)
    call = module.parent(parent) if isinstance(parent, ast.keyword) else parent
    if not isinstance(call, ast.Call):
        return not isinstance(parent, (ast.Attribute, ast.Subscript, ast.Compare, ast.For, ast.comprehension))
    callee = project.definition(module, call.func)
    if callee is None:
        built_in = isinstance(call.func, ast.Name) and not module.bindings(call.func)
        return not built_in and not (module.resolve(call.func) or "").startswith(_LOOKING)
    if not isinstance(callee.node, ast.FunctionDef) or depth == _DEPTH:
        return True
    try:
        name = next((n for n, value in given(callee.node, call).items() if value is node), None)
    except Stuck:
        return True
    if name is None:
        return True
    for use in walk(callee.node):
        if is_name(use, name):
            assert isinstance(use, ast.Name)
            kind = _kind(callee.module, use)[0]
            if kind in ("", "stores") or kind == "whole" and _is_changed(project, callee.module, use, depth + 1):
                return True
    return False


@dataclass
class _Entry:
    """One entry that a model_fn sets."""

    uses: _Uses
    key: str

    @cached_property
    def _stores(self) -> list[ast.stmt]:
        return [statement for key, statement in self.uses.stores if key == self.key]

    def changes(self) -> list[rewrite.Change]:
        """The changes that make a variable of it; none where it has to stay."""
        module, uses = self.uses.module, self.uses
        first, last = self._stores[0], self._stores[-1]
        conditions = [self._condition(statement) for statement in self._stores]
        if any(isinstance(c, (ast.For, ast.While, ast.Try, ast.AsyncFor)) for c in conditions):
            return []
        above = conditions[0] if conditions[0] is not None else first
        reads = [place for key, place in uses.reads if key == self.key]
        after = [place for place in reads if place_of(place) > place_of(first)]
        early = [node for node in uses.whole if place_of(node) < place_of(last)]
        if any(not self._is_shown(node) for node in early):
            return []  # what keeps the params sees what becomes of them
        begins = conditions[0] is None and not isinstance(first, ast.AugAssign)
        if not begins and not any(self._condition(module.statement(place)) is None for place in reads):
            if not self._augments(first):
                return []
        asked = [place for key, place in uses.asked if key == self.key and place_of(place) > place_of(above)]
        if any(not isinstance(place, ast.Call) for place in asked) or (asked and not begins):
            return []
        name, given = self._name(), self._given()
        if name is None or any(self._reads_more(statement, begins) for statement in self._stores):
            return []
        changes: list[rewrite.Change] = [Remove(uses.copy)] if uses.copy is not None else []
        if given:
            changes.append(Remove(first))
        else:
            if not begins:
                new = statements(f"{{name}} = {PARAMS}[{{key}}]", name=name, key=written(self.key))
                changes.append(Insert(new, before=above))
            for statement in self._stores:
                changes += self._set(statement, name, fresh=begins and statement is first)
        changes += [Replace(place, expr(name)) for place in (*after, *asked) if not self._is_in_store(place)]
        return changes + [change for node in uses.whole if node not in early for change in self._told(node, name)]

    def _condition(self, node: ast.stmt) -> ast.stmt | None:
        """The outermost statement around one that may leave it out, or repeat it."""
        found: ast.stmt | None = None
        for outer in self.uses.module.ancestors(node):
            if outer is self.uses.function:
                return found
            if isinstance(outer, (ast.FunctionDef, ast.Lambda)):
                return node
            if isinstance(outer, ast.stmt) and not isinstance(outer, ast.With):
                found = outer
        return found

    def _is_shown(self, node: ast.Name) -> bool:
        """Whether a place only looks at the params: a function of Python or of another library is given them."""
        module = self.uses.module
        parent = module.parent(node)
        if not isinstance(parent, ast.Call) or node not in parent.args:
            return False
        built_in = isinstance(parent.func, ast.Name) and parent.func.id in ("print", "len", "str", "repr", "sorted")
        return built_in or ".logging." in f"{module.resolve(parent.func)}."

    def _augments(self, statement: ast.stmt) -> bool:
        return isinstance(statement, ast.AugAssign) and self._condition(statement) is None

    def _given(self) -> str | None:
        """The variable that the entry is set to, if nothing ever gives it another value."""
        first, module = self._stores[0], self.uses.module
        value = first.value if isinstance(first, ast.Assign) and len(self._stores) == 1 else None
        if not isinstance(value, ast.Name) or self._condition(first) is not None:
            return None
        made = module.assignment(value)
        here = made is not None and module.scope(value).lookup(value.id) is module.scope(self.uses.function)
        return value.id if here and made is not None and place_of(made) < place_of(first) else None

    def _name(self) -> str | None:
        """The name of the variable, free in the function."""
        known = self._given()
        if known is not None:
            return known
        module, function = self.uses.module, self.uses.function
        names = {n.id for n in walk(function) if isinstance(n, ast.Name)} | set(module.bound_names)
        names |= {a.arg for a in walk(function) if isinstance(a, ast.arg)}
        wanted = (self.key, f"{PARAMS}_{self.key}", f"own_{self.key}")
        return next((name for name in wanted if name.isidentifier() and name not in names), None)

    def _set(self, statement: ast.stmt, name: str, fresh: bool) -> Iterator[rewrite.Change]:
        """What one statement that sets the entry becomes; where it is `fresh`, the variable has no value before."""
        module = self.uses.module
        if isinstance(statement, ast.Assign):
            yield Replace(statement.targets[0], expr(name))
            if not fresh:
                inner = [place for key, place in self.uses.reads if key == self.key]
                yield from (Replace(p, expr(name)) for p in inner if module.is_inside(p, statement))
            return
        if isinstance(statement, ast.AugAssign):
            yield Replace(statement.target, expr(name))
            return
        call = statement.value if isinstance(statement, ast.Expr) else None
        assert isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute)
        new = module.cst.expression(call.args[-1])
        if call.func.attr == "setdefault":
            asked = expr(
                "{get}({key}, {new})", get=expr(f"{PARAMS}.get"), key=module.cst.expression(call.args[0]), new=new
            )
            yield Replace(statement, statements("{name} = {asked}", name=name, asked=asked))
            return
        template = grown(module, call.func)
        assert template is not None
        old = module.cst.expression(call.func.value) if fresh else expr(name)
        yield Replace(statement, statements("{name} = {list}", name=name, list=expr(template, old=old, new=new)))

    def _reads_more(self, statement: ast.stmt, begins: bool) -> bool:
        """Whether the entry is read where its variable would be in the way: in what is added to it, or is its default."""
        call = statement.value if isinstance(statement, ast.Expr) else None
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "setdefault":
            if not begins or statement is not self._stores[0]:
                return True
        value = call.args[-1] if isinstance(call, ast.Call) else statement.value  # type: ignore[attr-defined]
        if isinstance(statement, ast.Assign):
            return False
        return any(is_name(node, PARAMS) for node in walk(value))

    def _is_in_store(self, place: ast.expr) -> bool:
        return any(self.uses.module.is_inside(place, statement) for statement in self._stores)

    def _told(self, node: ast.Name, name: str) -> Iterator[rewrite.Change]:
        """What gets the params whole gets the entry in them."""
        module = self.uses.module
        call = module.parent(node)
        if (
            isinstance(call, ast.Call)
            and is_name(call.func, "dict")
            and call.args == [node]
            and self.key.isidentifier()
        ):
            yield Replace(call, with_arguments(module.cst.call(call), add={self.key: expr(name)}))
        elif self.key.isidentifier() and "dict" not in module.bound_names:
            yield Replace(node, expr(f"dict({PARAMS}, {self.key}={name})"))
        else:
            yield Replace(node, expr(f"{{**{PARAMS}, {self.key!r}: {name}}}"))

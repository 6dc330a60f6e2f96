"""Entries that a model_fn sets in its params become its variables.

An Estimator gives its model_fn a copy of the params for each mode, so that nobody else ever sees what becomes of them.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from migrator import rewrite
from migrator.normalise.draft.draft import Change, Drafts
from migrator.normalise.functions.partials import PARTIAL
from migrator.normalise.names.param_uses import grown, is_changed, kind_of
from migrator.normalise.names.spelled_entries import popped, written
from migrator.normalise.objects.reserved import PARAMS
from migrator.resolve.module import Module
from migrator.resolve.project import Definition, Project
from migrator.resolve.syntax import is_name, place_of, walk
from migrator.rewrite import Insert, Remove, Replace, expr, source, statements, with_arguments

_COPIES = frozenset({"copy.deepcopy", "copy.copy", "dict"})


def set_entries(drafts: Drafts, definition: Definition) -> list[Change]:
    """The changes for one entry that a model_fn sets; none where there is no more, or where it has to stay."""
    module, function = definition.module, definition.node
    if not isinstance(function, ast.FunctionDef) or not gets_a_copy(drafts, definition):
        return []
    taken = popped(module, function)
    if taken:
        return taken
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
        kind, key, place = kind_of(module, node)
        if kind == "stores" and module.scope(place) is not scope:
            return None
        if kind in found:
            found[kind].append((key, place))
        elif kind == "whole" and not is_changed(project, module, node):
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


@dataclass
class _Entry:
    """One entry that a model_fn sets."""

    uses: _Uses
    key: str

    @cached_property
    def _stores(self) -> list[ast.stmt]:
        return [statement for key, statement in self.uses.stores if key == self.key]

    @property
    def _is_field(self) -> bool:
        return self.key.startswith(".")

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
        if self._is_field and any(place_of(node) > place_of(first) for node in uses.whole):
            return []
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
        copies = self._copies(reads) if begins and len(self._stores) == 1 else []
        name, given = self._name(copies), self._given()
        if name is None or any(self._reads_more(statement, begins) for statement in self._stores):
            return []
        changes: list[rewrite.Change] = [Remove(uses.copy)] if uses.copy is not None else []
        if given:
            changes.append(Remove(first))
        else:
            if not begins:
                old = f"{PARAMS}{self.key}" if self._is_field else f"{PARAMS}[{source(written(self.key))}]"
                new = statements("{name} = {old}", name=name, old=expr(old))
                changes.append(Insert(new, before=above))
            for statement in self._stores:
                changes += self._set(statement, name, fresh=begins and statement is first)
        gone = {copy.value for copy in copies}
        changes += [Remove(copy) for copy in copies]
        after += [load for copy in copies for load in self._loads(copy) if load.id != name]
        changes += [
            Replace(place, expr(name))
            for place in (*after, *asked)
            if place not in gone and not self._is_in_store(place)
        ]
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

    def _copies(self, reads: list[ast.expr]) -> list[ast.Assign]:
        """Statements that give the entry another name, which nothing else gives a value: what was the argument of a helper."""
        module, found = self.uses.module, []
        for read in reads:
            copy = module.parent(read)
            target = copy.targets[0] if isinstance(copy, ast.Assign) and len(copy.targets) == 1 else None
            if (
                not isinstance(copy, ast.Assign)
                or not isinstance(target, ast.Name)
                or self._condition(copy) is not None
            ):
                continue
            once = len(module.scope(target).bindings.get(target.id, ())) == 1
            early = place_of(copy) < place_of(self._stores[0])
            if once and not early and not any(module.nearest(load, ast.JoinedStr) for load in self._loads(copy)):
                found.append(copy)
        return found

    def _loads(self, copy: ast.Assign) -> list[ast.Name]:
        """The places that read what a statement gives a name to."""
        target = copy.targets[0]
        assert isinstance(target, ast.Name)
        return self.uses.module.loads_of(target.id, self.uses.module.scope(target))

    def _name(self, copies: list[ast.Assign]) -> str | None:
        """The name of the variable, free in the function but for those statements."""
        known = self._given()
        if known is not None:
            return known
        module, function = self.uses.module, self.uses.function
        key = self.key.lstrip(".")
        own = {n for copy in copies for n in (*copy.targets, *self._loads(copy))}
        if key in {n.id for n in own if isinstance(n, ast.Name)}:
            names = {n.id for n in walk(function) if isinstance(n, ast.Name) and n not in own}
            names |= set(module.analysis.root.bindings)
        else:
            names = {n.id for n in walk(function) if isinstance(n, ast.Name)} | set(module.bound_names)
        names |= {a.arg for a in walk(function) if isinstance(a, ast.arg)}
        wanted = (key, f"{PARAMS}_{key}", f"own_{key}")
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

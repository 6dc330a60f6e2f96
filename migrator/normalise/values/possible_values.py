"""What an expression may stand for: the functions, classes, objects or literals that it may be when it is computed.

`train(model_fn)` gets its model_fn from its callers, ``MODELS[name]`` from the dict's display, wherever that comes from,
``a if deep else b`` is either, and so is what a function returns that chooses one. Each place is noted that is read on the
way, so that it can be told whether anything else reads it.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field

from migrator.normalise.draft.returns import own_returns
from migrator.normalise.values.attributes import attribute_values
from migrator.normalise.values.callers import Place, given_by_callers
from migrator.resolve.module import Module
from migrator.resolve.project import Definition, Project
from migrator.resolve.symbols import Binding, Scope
from migrator.resolve.syntax import walk
from migrator.vocabulary.unsupported import Unsupported

_MAX_HOPS = 8
# What may be asked of a dict besides its entries, without any effect on them.
_QUESTIONS = frozenset({"keys", "__contains__"})
_STORES = (ast.Assign, ast.AnnAssign)
_BLIND = (ast.Yield, ast.YieldFrom, ast.Await)


@dataclass
class PossibleValues:
    """The expressions that an expression may stand for, with their files, and what was read to find them."""

    values: list[Place] = field(default_factory=list)
    read: set[ast.expr] = field(default_factory=set)
    holders: list[tuple[Module, Scope, str]] = field(default_factory=list)
    """The names that hold them, with the scopes that bind these."""
    stuck: Unsupported | None = None
    """Why not all of them are seen."""

    def strangers(self, project: Project, read: Collection[ast.expr]) -> list[Place]:
        """What reads a holder and is not among what `read` has."""
        places = [place for holder in self.holders for place in project.readers.of(*holder)]
        unread = [(module, node) for module, node in places if node not in read and not asks(module, node)]
        return [place for place in unread if not self._takes_another(project, *place)]

    def _takes_another(self, project: Project, module: Module, node: ast.expr) -> bool:
        """Whether a read of a table takes an entry that holds none of the values, as ``params["sizes"]``, or is only asked."""
        entry = module.parent(node)
        if not isinstance(entry, ast.Subscript) or entry.value is not node or not isinstance(entry.slice, ast.Constant):
            return False
        if not isinstance(entry.ctx, ast.Load):
            return False
        if asks(module, entry):
            return True
        found = possible_values(project, module, entry)
        mine = {value for _, value in self.values}
        return found.stuck is None and mine.isdisjoint(part for _, value in found.values for part in walk(value))


def possible_values(
    project: Project,
    module: Module,
    node: ast.expr,
    whole: bool = False,
    attributes: bool = False,
    tables: bool = False,
) -> PossibleValues:
    """What an expression may stand for.

    A name that has its value from one call, a display or the like is a value itself, unless `whole` asks for what it holds.
    `attributes` asks for what those of an object hold as well, whose other readers are not noted. `tables` asks for all that a
    table holds, whichever entry is read.
    """
    search = _Search(project, attributes, tables)
    try:
        search.found.values = search.values(module, node, whole, 0)
    except Unsupported as reason:
        search.found.stuck = reason
    return search.found


def functions(project: Project, module: Module, node: ast.expr) -> list[Definition]:
    """The functions of the program that an expression may stand for; none where not all are seen, or one is something else."""
    found = possible_values(project, module, node)
    if found.stuck is not None or found.strangers(project, found.read):
        return []
    definitions = [project.definition(where, value) for where, value in found.values]
    seen = [each for each in definitions if each is not None and isinstance(each.node, ast.FunctionDef)]
    return seen if len(seen) == len(definitions) else []


def text_of(project: Project, module: Module, node: ast.expr) -> str | None:
    """The one text that an expression stands for; also that of an attribute of an object of the program."""
    found = possible_values(project, module, node, whole=True, attributes=True)
    texts = {getattr(value, "value", None) for _, value in found.values}
    text = texts.pop() if found.stuck is None and len(texts) == 1 else None
    return text if isinstance(text, str) else None


def may_be_none(project: Project, module: Module, node: ast.expr) -> bool:
    """Whether None is seen to be among what an expression may stand for."""
    return any(_is_none(value) for _, value in possible_values(project, module, node, whole=True).values)


def handed(project: Project, module: Module, node: ast.expr, tables: bool = False) -> PossibleValues | None:
    """What an expression may stand for; None where it names a function itself, or where it comes from is not seen."""
    found = possible_values(project, module, node, tables=tables)
    return found if found.read and found.stuck is None else None


def display(project: Project, module: Module, node: ast.expr) -> tuple[Module, ast.Dict] | None:
    """The display of a dict that a name stands for, if that is the only one, and is assigned to a name."""
    found = possible_values(project, module, node, whole=True)
    home, value = found.values[0] if found.stuck is None and len(found.values) == 1 else (module, node)
    statement = home.parent(value)
    named = isinstance(statement, ast.Assign) and [type(target) for target in statement.targets] == [ast.Name]
    return (home, value) if named and isinstance(value, ast.Dict) and None not in value.keys else None


class _Search:
    def __init__(self, project: Project, attributes: bool, tables: bool) -> None:
        self.project, self.attributes, self.tables = project, attributes, tables
        self.found = PossibleValues()

    def values(self, module: Module, node: ast.expr, whole: bool, depth: int) -> list[Place]:
        """What an expression may stand for. Raises Unsupported."""
        if depth > _MAX_HOPS:
            raise Unsupported("it is handed on too often", node)
        sources = self._sources(module, node, whole, depth)
        if sources is None:
            return [(module, node)]
        self.found.read.add(node)
        return [value for home, source in sources for value in self.values(home, source, whole, depth + 1)]

    def _sources(self, module: Module, node: ast.expr, whole: bool, depth: int) -> list[Place] | None:
        """Where an expression has its value from; None where it says what it is by itself."""
        if isinstance(node, ast.IfExp):
            return [(module, node.body), (module, node.orelse)]
        looked_up = _table(node)
        if looked_up is not None:
            table, others = looked_up
            shown = self.values(module, table, True, depth + 1)
            wanted = None if self.tables else _key(node)
            entries = [entry for place in shown for entry in self._entries(*place, depth, wanted)]
            return [*entries, *((module, value) for value in others)]
        if isinstance(node, ast.Call):
            return self._returned(module, node, depth)
        if isinstance(node, ast.Name):
            return self._bound(module, node, whole, depth)
        if isinstance(node, ast.Attribute):
            held = attribute_values(self.project, module, node) if self.attributes else None
            return held or self._member(module, node, whole)
        return None

    def _entries(
        self, module: Module, table: ast.expr, depth: int, wanted: ast.Constant | None = None
    ) -> Iterator[Place]:
        """What stands under the keys of a dict that is written out, or under one that is `wanted`. Raises Unsupported."""
        if isinstance(table, ast.Dict):
            pairs: list[tuple[ast.expr | None, ast.expr]] = list(zip(table.keys, table.values))
        elif _is_dict(module, table):
            assert isinstance(table, ast.Call)
            pairs = [(ast.Constant(k.arg) if k.arg is not None else None, k.value) for k in table.keywords]
        else:
            raise Unsupported("what the table holds is not seen", table)
        for key, value in pairs:
            if key is not None:
                if wanted is None or not isinstance(key, ast.Constant) or key.value == wanted.value:
                    yield module, value
                continue
            for home, other in self.values(module, value, True, depth + 1):
                yield from self._entries(home, other, depth + 1, wanted)

    def _bound(self, module: Module, node: ast.Name, whole: bool, depth: int) -> list[Place] | None:
        """What a name is given: by the callers of the function whose parameter it is, by assignments, or by a loop."""
        scope = module.scope(node).lookup(node.id)
        bound = [binding for binding in module.bindings(node) if whole or not binding.is_none]
        if len(bound) == 1 and isinstance(bound[0].node, (ast.Import, ast.ImportFrom)) or scope is None:
            return self._member(module, node, whole)
        if len(bound) == 1 and isinstance(bound[0].node, ast.arg):
            found: list[Place] | None = given_by_callers(self.project, module, bound[0].node)
        else:
            loop = self._turns(module, bound[0].node, depth) if len(bound) == 1 else None
            found = self._assigned(module, bound, whole) if loop is None else loop
        if found is not None:
            self._hold(module, scope, node.id)
        return found

    def _turns(self, module: Module, target: ast.AST, depth: int) -> list[Place] | None:
        """What a name is in the turns of a loop: ``for model_fn in (deep, wide)``, ``for name, model_fn in MODELS.items()``."""
        around = module.parent(target)
        names = around.elts if isinstance(around, ast.Tuple) else []
        loop = module.parent(around) if isinstance(around, ast.Tuple) else around
        if not isinstance(loop, ast.For) or loop.target not in (target, around) or not isinstance(target, ast.Name):
            return None
        view = loop.iter.func if isinstance(loop.iter, ast.Call) and not loop.iter.args else None
        if isinstance(view, ast.Attribute) and view.attr == ("items" if names else "values"):
            if names and names.index(target) != 1:
                return None
            shown = self.values(module, view.value, True, depth + 1)
            return [entry for place in shown for entry in self._entries(*place, depth)]
        turns = loop.iter.elts if isinstance(loop.iter, (ast.List, ast.Tuple)) else []
        if names:
            pairs = [
                turn.elts for turn in turns if isinstance(turn, (ast.Tuple, ast.List)) and len(turn.elts) == len(names)
            ]
            turns = [pair[names.index(target)] for pair in pairs] if len(pairs) == len(turns) else []
        if not turns or any(isinstance(turn, ast.Starred) for turn in turns):
            return None
        return [(module, turn) for turn in turns]

    def _member(self, module: Module, node: ast.expr, whole: bool) -> list[Place] | None:
        """What a name of another file is given there."""
        head, _, name = (self.project.qualified(module, node) or "").rpartition(".")
        owner = self.project.module_behind(head, module) if head.strip(".") else None
        if owner is None:
            return None
        path, name = self.project.readers.origin(owner, name)
        home = self.project.modules[path]
        found = self._assigned(home, home.analysis.root.bindings.get(name, []), whole)
        if found is not None:
            self._hold(home, home.analysis.root, name)
        return found

    def _assigned(self, module: Module, bound: list[Binding], whole: bool) -> list[Place] | None:
        """The values of the assignments that bind a name; None where something else does, or it needs no following."""
        values: list[Place] = []
        bound = [binding for binding in bound if whole or not binding.is_none]
        for binding in bound:
            place = binding.node
            statement = place if isinstance(place, _STORES) or place is None else module.parent(place)
            if not isinstance(statement, _STORES) or statement.value is None:
                return None
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            if [type(target) for target in targets] != [ast.Name]:
                return None
            if len(bound) == 1 and not whole and not self._is_passed_on(module, statement.value):
                return None
            values.append((module, statement.value))
        return values or None

    def _is_passed_on(self, module: Module, node: ast.expr) -> bool:
        """Whether an expression may be one of several functions, or is the name of one."""
        if isinstance(node, (ast.IfExp, ast.Subscript, ast.Name)) or _table(node) is not None:
            return True
        if isinstance(node, ast.Attribute):
            return self._is_function(module, node)
        return isinstance(node, ast.Call) and self._chooser(module, node) is not None

    def _returned(self, module: Module, call: ast.Call, depth: int) -> list[Place] | None:
        """What a function returns that chooses one of the program's functions."""
        returned = self._chooser(module, call)
        definition = self.project.definition(module, call.func)
        if returned is None or definition is None:
            return None
        scope = definition.module.scope(definition.module.parent(definition.node) or definition.module.tree)
        self.found.read.add(call.func)
        self._hold(definition.module, scope, definition.name)
        return returned

    def _chooser(self, module: Module, call: ast.Call) -> list[Place] | None:
        """What the called function of the program returns, where each is a function by its name, or one out of a table."""
        definition = self.project.definition(module, call.func)
        function = definition.node if definition is not None else None
        if definition is None or not isinstance(function, ast.FunctionDef) or function.decorator_list:
            return None
        if isinstance(definition.module.parent(function), ast.ClassDef):
            return None
        returned = (statement.value for statement in own_returns(function))
        values = [value for value in returned if value is not None and not _is_none(value)]
        if not values or any(isinstance(node, _BLIND) for node in walk(function)):
            return None
        inside = definition.module
        known = all(_table(value) is not None or self._is_function(inside, value) for value in values)
        return [(inside, value) for value in values] if known else None

    def _is_function(self, module: Module, node: ast.expr) -> bool:
        """Whether an expression names a function of a file, which is the same whoever asks."""
        if not isinstance(node, (ast.Name, ast.Attribute)):
            return False
        found = self.project.definition(module, node)
        return found is not None and found.module.parent(found.node) is found.module.tree

    def _hold(self, module: Module, scope: Scope, name: str) -> None:
        if (module, scope, name) not in self.found.holders:
            self.found.holders.append((module, scope, name))


def _table(node: ast.expr) -> tuple[ast.expr, list[ast.expr]] | None:
    """The dict of ``MODELS[name]`` or ``MODELS.get(name, default)``, and the default."""
    if isinstance(node, ast.Subscript) and not isinstance(node.slice, ast.Slice):
        return node.value, []
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "get":
        if len(node.args) in (1, 2) and not node.keywords:
            return node.func.value, [value for value in node.args[1:] if not _is_none(value)]
    return None


def _key(node: ast.expr) -> ast.Constant | None:
    """The key of the entry that is looked up, where it is a literal."""
    key = node.slice if isinstance(node, ast.Subscript) else node.args[0] if isinstance(node, ast.Call) else None
    return key if isinstance(key, ast.Constant) else None


def _is_dict(module: Module, node: ast.expr) -> bool:
    """``dict(deep=deep, wide=wide)``."""
    call = node if isinstance(node, ast.Call) and not node.args else None
    return (
        call is not None
        and isinstance(call.func, ast.Name)
        and call.func.id == "dict"
        and not module.bindings(call.func)
    )


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def asks(module: Module, node: ast.expr) -> bool:
    """Whether a read asks for the keys of a table only, or if there is anything: ``name in MODELS``, ``for name in MODELS``,
    ``sorted(MODELS)``, ``make is None``."""
    parent = module.parent(node)
    if isinstance(parent, (ast.For, ast.comprehension)):
        return parent.iter is node
    if isinstance(parent, ast.Compare) and parent.left is node:
        return all(isinstance(op, (ast.Is, ast.IsNot)) for op in parent.ops)
    if isinstance(parent, ast.Compare):
        return node in parent.comparators and all(isinstance(op, (ast.In, ast.NotIn)) for op in parent.ops)
    if isinstance(parent, ast.Call):
        return isinstance(parent.func, ast.Name) and parent.func.id in ("sorted", "list", "len")
    return isinstance(parent, ast.Attribute) and parent.attr in _QUESTIONS

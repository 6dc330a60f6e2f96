"""Which functions an expression may stand for that is no function's own name: a parameter, an entry of a dict, one of two.

``train(model_fn)`` gets its model_fn from its callers, ``MODELS[name]`` from the dict's display, ``a if deep else b`` is
either. Each place is noted that is read on the way, so that it can be told whether anything else reads it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass, field

from migrator.normalise.draft.arguments import defaults, given
from migrator.normalise.draft.stuck import Stuck
from migrator.normalise.functions.partials import PARTIAL
from migrator.resolve.module import Module
from migrator.resolve.project import Project
from migrator.resolve.symbols import Scope

_MAX_HOPS = 6
# What may be asked of a dict besides its entries, without any effect on them.
_QUESTIONS = frozenset({"keys", "__contains__"})


@dataclass
class Handed:
    """The expressions that name the functions, with their files, and what was read to find them."""

    values: list[tuple[Module, ast.expr]] = field(default_factory=list)
    read: set[ast.expr] = field(default_factory=set)
    holders: list[tuple[Module, Scope, str]] = field(default_factory=list)
    """The names that hold the functions, with the scopes that bind them."""

    def strangers(self, project: Project, read: set[ast.expr]) -> list[tuple[Module, ast.expr]]:
        """What reads a holder and is not among what `read` has."""
        places = [place for holder in self.holders for place in project.readers.of(*holder)]
        return [(module, node) for module, node in places if node not in read and not asks(module, node)]


def handed(project: Project, module: Module, node: ast.expr) -> Handed | None:
    """What an expression may stand for; None where it names a function itself, or where it comes from is not seen."""
    found = Handed()
    try:
        _follow(project, module, node, found, 0)
    except Stuck:
        return None
    return found if found.read else None


def _follow(project: Project, module: Module, node: ast.expr, found: Handed, depth: int) -> None:
    if depth > _MAX_HOPS:
        raise Stuck("it is handed on too often", node)
    if isinstance(node, ast.IfExp):
        found.read.add(node)
        for arm in (node.body, node.orelse):
            _follow(project, module, arm, found, depth + 1)
        return
    looked_up = _table(node)
    if looked_up is not None:
        table, others = looked_up
        place = display(project, module, table, found)
        if place is None:
            raise Stuck("what the table holds is not seen", node)
        home, shown = place
        found.read |= {table, node}
        for value in shown.values:
            _follow(project, home, value, found, depth + 1)
        for value in others:
            _follow(project, module, value, found, depth + 1)
        return
    getter = _getter(project, module, node)
    if getter is not None:
        found.read.add(node)
        _follow(project, *getter, found, depth + 1)
        return
    if isinstance(node, ast.Name):
        sources = _sources(project, module, node)
        if sources is not None:
            scope = module.scope(node).lookup(node.id)
            assert scope is not None
            found.read.add(node)
            if (module, scope, node.id) not in found.holders:
                found.holders.append((module, scope, node.id))
            for other, value in sources:
                _follow(project, other, value, found, depth + 1)
            return
    found.values.append((module, node))


def _sources(project: Project, module: Module, node: ast.Name) -> list[tuple[Module, ast.expr]] | None:
    """What a name is given: by the callers of the function whose parameter it is, or by several assignments."""
    bound = [binding.node for binding in module.bindings(node) if not binding.is_none]
    if len(bound) == 1 and isinstance(bound[0], ast.arg):
        return given_by_callers(project, module, bound[0])
    values: list[tuple[Module, ast.expr]] = []
    for place in bound:
        statement = place if isinstance(place, ast.Assign) else module.parent(place)
        if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
            return None
        if not isinstance(statement.targets[0], ast.Name):
            return None
        plain = isinstance(statement.value, (ast.IfExp, ast.Subscript, ast.Name)) or _table(statement.value) is not None
        plain = plain or _getter(project, module, statement.value) is not None
        if len(bound) == 1 and not plain:
            return None
        values.append((module, statement.value))
    return values or None


def given_by_callers(project: Project, module: Module, parameter: ast.arg) -> list[tuple[Module, ast.expr]]:
    """What all callers of a function give for a parameter. Raises Stuck."""
    function = module.parent(module.parent(parameter) or parameter)
    holder = module.parent(function) if function is not None else None
    if not isinstance(function, ast.FunctionDef) or function.decorator_list or isinstance(holder, ast.ClassDef):
        raise Stuck("who calls the function is not seen", parameter)
    references = project.readers.of(module, module.scope(holder or module.tree), function.name)
    return given_at(references, module, function, parameter)


def given_at(
    references: Iterable[tuple[Module, ast.expr]],
    module: Module,
    function: ast.FunctionDef,
    parameter: ast.arg,
    method: bool = False,
) -> list[tuple[Module, ast.expr]]:
    """What calls at the places that read a function of `module` give for a parameter, or its default. Raises Stuck."""
    values: list[tuple[Module, ast.expr]] = []
    for other, reference in references:
        call = other.parent(reference)
        if not isinstance(call, ast.Call):
            raise Stuck("the function is handed around", reference)
        if call.func is reference:
            value = given(function, call, skip=int(method)).get(parameter.arg)
        elif not method and call.args == [reference] and other.resolve(call.func) == PARTIAL:
            value = next((keyword.value for keyword in call.keywords if keyword.arg == parameter.arg), None)
        else:
            raise Stuck("the function is handed around", reference)
        if value is None and parameter.arg not in defaults(function):
            raise Stuck("what is given for the parameter is not seen", call)
        values.append((other, value) if value is not None else (module, defaults(function)[parameter.arg]))
    if not values:
        raise Stuck("nobody calls the function", function)
    return values


def _table(node: ast.expr) -> tuple[ast.expr, list[ast.expr]] | None:
    """The dict of ``MODELS[name]`` or ``MODELS.get(name, default)``, and the default."""
    if isinstance(node, ast.Subscript) and isinstance(node.value, (ast.Name, ast.Attribute)):
        return node.value, []
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "get":
        table = node.func.value
        if isinstance(table, (ast.Name, ast.Attribute)) and len(node.args) in (1, 2) and not node.keywords:
            return table, [value for value in node.args[1:] if not _is_none(value)]
    return None


def _getter(project: Project, module: Module, node: ast.expr) -> tuple[Module, ast.expr] | None:
    """What ``get_model(name)`` returns, where that is an entry of a table, and all else that it does is to refuse names."""
    definition = project.definition(module, node.func) if isinstance(node, ast.Call) else None
    if definition is None or not isinstance(definition.node, ast.FunctionDef) or definition.node.decorator_list:
        return None
    *before, last = definition.node.body
    value = last.value if isinstance(last, ast.Return) else None
    if value is None or not isinstance(value, ast.Subscript) or _table(value) is None:
        return None
    plain = all(
        isinstance(s.value, ast.Constant)
        if isinstance(s, ast.Expr)
        else isinstance(s, ast.If) and not s.orelse and all(isinstance(inner, ast.Raise) for inner in s.body)
        for s in before
    )
    return (definition.module, value) if plain else None


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def display(
    project: Project, module: Module, node: ast.expr, found: Handed | None = None
) -> tuple[Module, ast.Dict] | None:
    """The display that a name of this or another module is bound to, once and for all. Its holder comes to what was `found`."""
    home, name = module, node.id if isinstance(node, ast.Name) else ""
    scope = module.scope(node).lookup(name) if name else None
    binding = scope.bindings[name][0] if scope is not None and len(scope.bindings[name]) == 1 else None
    if binding is None or isinstance(binding.node, (ast.Import, ast.ImportFrom)):
        head, _, name = (module.qualified(node) or "").rpartition(".")
        target = project.module_named(head, module) if head.strip(".") else None
        bindings = target.analysis.root.bindings.get(name, []) if target is not None else []
        if target is None or len(bindings) != 1:
            return None
        home, scope, binding = target, target.analysis.root, bindings[0]
    statement = home.parent(binding.node)
    value = statement.value if isinstance(statement, ast.Assign) and len(statement.targets) == 1 else None
    if scope is None or not isinstance(value, ast.Dict) or None in value.keys:
        return None
    if found is not None and (home, scope, name) not in found.holders:
        found.holders.append((home, scope, name))
    return home, value


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

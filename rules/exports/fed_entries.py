"""Placeholders that are the entries of a dict of features."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from migrator.analyse.function.translate import is_none
from migrator.resolve.module import Module
from migrator.resolve.syntax import walk

from .placeholders import placeholders, told_by

Entries = list[tuple[ast.expr, ast.expr]]


def added_entries(module: Module, features: ast.expr) -> dict[ast.stmt, Entries]:
    """The statements that add entries to a dict with a name, with these: ``name[key] = value``, ``name.update({…})``, and loops
    over nothing but such."""
    found: dict[ast.stmt, Entries] = {}
    for load in loads(module, features) if isinstance(features, ast.Name) else ():
        parent, statement = module.parent(load), module.statement(load)
        if isinstance(parent, ast.Subscript) and isinstance(statement, ast.Assign) and statement.targets == [parent]:
            calls = [n.func for n in walk(parent.slice) if isinstance(n, ast.Call)]
            if all(isinstance(call, ast.Name) and call.id == "str" and not module.bindings(call) for call in calls):
                found[statement] = [(parent.slice, statement.value)]  # a key is written twice then
        call = statement.value if isinstance(statement, ast.Expr) else None
        if isinstance(call, ast.Call) and call.func is parent and isinstance(parent, ast.Attribute):
            entries = _entries(call.args[0]) if len(call.args) == 1 and not call.keywords else None
            if parent.attr == "update" and entries is not None:
                found[statement] = entries
    for loop in {module.parent(statement) for statement in found}:
        over = {n.id for n in walk(loop.iter) if isinstance(n, ast.Name)} if isinstance(loop, ast.For) else set()
        fills = isinstance(loop, ast.For) and not loop.orelse and all(part in found for part in loop.body)
        if isinstance(loop, ast.For) and fills and isinstance(features, ast.Name) and features.id not in over:
            found[loop] = [entry for part in loop.body for entry in found.pop(part)]
    return found


def _entries(made: ast.expr) -> Entries | None:
    """The entries of a dict that is written."""
    if isinstance(made, ast.DictComp):
        return [(made.key, made.value)]
    if not isinstance(made, ast.Dict):
        return None
    entries = [(key, value) for key, value in zip(made.keys, made.values) if key is not None]
    return entries if len(entries) == len(made.values) else None


def fed_by(
    module: Module,
    function: ast.AST,
    features: ast.expr,
    raw: bool,
    added: Mapping[ast.stmt, Entries] = MappingProxyType({}),
) -> list[tuple[ast.Call, str]] | None:
    """All placeholders of a function, if each of them is an entry of its dict of features, or of those that are `added` to it."""
    statement = module.assignment(features)
    found: list[tuple[ast.Call, str]] = []
    entries = _entries(statement.value if statement is not None else features)
    if entries is None:
        return None
    places = [(statement or module.statement(features), entry) for entry in entries]
    for own, (key, value) in [*places, *((where, entry) for where, more in added.items() for entry in more)]:
        held = module.assignment(value)
        call = held.value if held is not None else value
        told = told_by(module, call) if isinstance(call, ast.Call) else None
        if not isinstance(call, ast.Call) or told is None or (raw and not _is_batch(told.shape)):
            return None
        if held is not None and isinstance(value, ast.Name) and not is_read_in(module, value, [own]):
            return None
        found.append((call, module.segment(key)))
    every = set(placeholders(module, function))
    calls = [call for call, _ in found]
    return found if found and every == {*calls} and len(every) == len(calls) else None


def is_read_in(module: Module, name: ast.expr, statements: Sequence[ast.stmt]) -> bool:
    """Whether a name, if it is one, is read in some statements alone."""
    if not isinstance(name, ast.Name):
        return True
    return all(any(module.is_inside(load, each) for each in statements) for load in loads(module, name))


def _is_batch(shape: ast.expr) -> bool:
    """Whether the first of some dimensions is open, as `build_raw_serving_input_receiver_fn` makes it."""
    first = shape.elts[0] if isinstance(shape, (ast.List, ast.Tuple)) and shape.elts else None
    return first is not None and is_none(first)


def loads(module: Module, name: ast.Name) -> list[ast.Name]:
    return module.loads_of(name.id, module.scope(name).lookup(name.id))

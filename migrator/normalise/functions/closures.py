"""Nested functions that make layers and are handed around. Those that other functions get move to the module, and what is
handed on is a `functools.partial` that fills in what they read from around them."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from migrator.normalise.draft.draft import Change, Drafts
from migrator.normalise.functions.curried import uncurried
from migrator.normalise.functions.lambdas import functools_partial
from migrator.normalise.functions.lift import free_name, keywords, moved
from migrator.resolve.module import Module
from migrator.resolve.symbols import Scope
from migrator.resolve.syntax import statements, walk
from migrator.rewrite import Replace, code
from migrator.vocabulary.unsupported import Unsupported


def nested_functions(function: ast.AST) -> Iterator[ast.FunctionDef]:
    """The functions that a function defines."""
    return (node for node in statements(function) if isinstance(node, ast.FunctionDef))


def taken_out(drafts: Drafts, module: Module, function: ast.FunctionDef) -> list[Change]:
    """The edits for a function that is handed to others, or returned; none for one that is only called. Raises Unsupported."""
    return _handed(module, function) or uncurried(drafts, module, function)


def _handed(module: Module, function: ast.FunctionDef) -> list[Change]:
    """The edits for a function that is handed to others."""
    outer = module.parent(function)
    if not isinstance(outer, ast.FunctionDef):
        return []
    holder = module.scope(outer).lookup(function.name)
    if holder is None or holder.node is not outer or len(holder.bindings[function.name]) != 1:
        return []
    reads = module.loads_of(function.name, holder)
    calls = {node: module.parent(node) for node in reads}
    handed = [node for node, parent in calls.items() if not isinstance(parent, ast.Call) or parent.func is not node]
    if not handed or not all(isinstance(calls[node], (ast.Call, ast.keyword)) for node in handed):
        return []
    if function.decorator_list or any(
        isinstance(node, (ast.Nonlocal, ast.Yield, ast.YieldFrom)) for node in walk(function)
    ):
        raise Unsupported("a nested function that is handed around is not followed", function)
    inside = {id(node) for node in walk(function)}
    if any(id(node) in inside for node in reads):
        raise Unsupported("a nested function that calls itself is not followed", function)
    captured = _captured(module, function, holder, inside)
    new = free_name(module, function, outer)
    changes = moved(module, function, new, captured)
    text = new
    if captured:
        partial, imported = functools_partial(module)
        changes += imported
        text = f"{partial}({', '.join([new, *(f'{name}={name}' for name in captured)])})"
    for node, parent in calls.items():
        changes.append(Replace(node, code(text) if node in handed else new))
        if node not in handed and captured and isinstance(parent, ast.Call):
            changes.append(keywords(module, parent, {name: name for name in captured}))
    return Change.every((module, change) for change in changes)


def _captured(module: Module, function: ast.FunctionDef, holder: Scope, inside: set[int]) -> list[str]:
    """The names that a function reads of the function around it, each of which has one value only. Raises Unsupported."""
    found: dict[str, None] = {}
    for node, scope in sorted(module.analysis.loads, key=lambda pair: (pair[0].lineno, pair[0].col_offset)):
        around = scope.lookup(node.id) if id(node) in inside else None
        if around is None or id(around.node) in inside or around.kind != "function":
            continue
        bindings = around.bindings[node.id]
        if around is not holder or len(bindings) != 1 or isinstance(bindings[0].node, (ast.FunctionDef, ast.ClassDef)):
            raise Unsupported(f"`{node.id}`, which a nested function reads, may have another value later", function)
        found.setdefault(node.id)
    return list(found)

"""What the places of a function do with the params that it gets, or with an entry of them."""

from __future__ import annotations

import ast

from migrator.analyse.statements.names import MUTATORS
from migrator.normalise.draft.arguments import given
from migrator.normalise.names.spelled_entries import text_key
from migrator.resolve.module import Module
from migrator.resolve.project import Project
from migrator.resolve.syntax import is_name, walk
from migrator.vocabulary.unsupported import Unsupported

_READING = frozenset({"get", "items", "keys", "values"})
_LOOKING = ("tensorflow.", "logging.", "json.", "copy.", "pprint.")
"""Libraries whose functions change no dict that they are given."""
_DEPTH = 4
"""How many calls deep params are followed."""


def kind_of(module: Module, node: ast.Name) -> tuple[str, str, ast.AST]:
    """What one place does with the params: ``stores``, ``reads`` or ``asked`` of a key, ``whole``, or something else.

    The key of a field has a dot before it: ``params.units``.
    """
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
            return _of_entry(module, parent, f".{parent.attr}")
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


def _of_entry(module: Module, entry: ast.Subscript | ast.Attribute, key: str) -> tuple[str, str, ast.AST]:
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


def is_changed(project: Project, module: Module, node: ast.Name, depth: int = 0) -> bool:
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
    except Unsupported:
        return True
    if name is None:
        return True
    for use in walk(callee.node):
        if is_name(use, name):
            assert isinstance(use, ast.Name)
            kind = kind_of(callee.module, use)[0]
            if kind in ("", "stores") or kind == "whole" and is_changed(project, callee.module, use, depth + 1):
                return True
    return False

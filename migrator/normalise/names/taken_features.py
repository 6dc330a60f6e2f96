"""A model_fn that takes entries out of its features works on a copy of the dict: the model is called with them, too."""

from __future__ import annotations

import ast

from migrator.normalise.draft.draft import Change
from migrator.resolve.project import Definition
from migrator.resolve.syntax import is_name, walk
from migrator.rewrite import Insert, statements

_CHANGING = frozenset({"pop", "popitem", "update", "setdefault", "clear"})


def copied_features(definition: Definition) -> list[Change]:
    """The edit that copies the features first, if a model_fn changes the dict that it gets."""
    module, function = definition.module, definition.node
    if not isinstance(function, ast.FunctionDef) or not function.args.args or "dict" in module.bound_names:
        return []
    name = function.args.args[0].arg
    nodes = list(walk(function))
    if any(isinstance(node, ast.Name) and node.id == name and not isinstance(node.ctx, ast.Load) for node in nodes):
        return []
    if not any(_changes(node, name) for node in nodes):
        return []
    documented = ast.get_docstring(function, clean=False) is not None
    first = function.body[1 if documented and len(function.body) > 1 else 0]
    if first.lineno == function.lineno:
        return []
    return Change.of(module, Insert(statements("{name} = dict({name})", name=name), before=first, above=True))


def _changes(node: ast.AST, name: str) -> bool:
    """Whether an expression changes the dict of a name."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return is_name(node.func.value, name) and node.func.attr in _CHANGING
    return isinstance(node, ast.Subscript) and is_name(node.value, name) and not isinstance(node.ctx, ast.Load)

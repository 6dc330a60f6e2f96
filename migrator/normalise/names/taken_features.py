"""A model_fn that takes entries out of its features works on a copy of the dict: the model is called with them, too."""

from __future__ import annotations

import ast

from migrator.normalise.draft.draft import Change
from migrator.resolve.module import Module
from migrator.resolve.project import Definition
from migrator.resolve.syntax import is_name, walk

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
    line = first.lineno - 1
    while _line(module, line - 1).startswith(b"#"):
        line -= 1
    copy = f"{' ' * first.col_offset}{name} = dict({name})\n"
    return [Change(module.insert(module.line_starts[line], copy))]


def _line(module: Module, number: int) -> bytes:
    """A line (from 0) without the blanks around it."""
    return module.source[module.line_starts[number] : module.line_starts[number + 1]].strip()


def _changes(node: ast.AST, name: str) -> bool:
    """Whether an expression changes the dict of a name."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return is_name(node.func.value, name) and node.func.attr in _CHANGING
    return isinstance(node, ast.Subscript) and is_name(node.value, name) and not isinstance(node.ctx, ast.Load)

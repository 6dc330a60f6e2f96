"""Entries that a call adds to a dict for the one helper that reads them: they become arguments of their own."""

from __future__ import annotations

import ast

from migrator import rewrite
from migrator.normalise.desugaring import Desugaring
from migrator.normalise.draft.arguments import given, parameters
from migrator.normalise.draft.draft import Change, Drafts
from migrator.resolve.module import Module
from migrator.resolve.syntax import is_name, walk
from migrator.rewrite import Replace, expr, with_arguments, with_parameters
from migrator.vocabulary.unsupported import Unsupported


@Desugaring
def expand(drafts: Drafts, module: Module, call: ast.Call) -> list[Change]:
    """The changes for one call that gives a function of the program a dict and more; none for other calls.

    ```python
    def network(x, params):
        x = dense(x, params["units"])
        return dropout(x, training=params["training"])


    def model_fn(features, params, training):
        return network(features["x"], dict(params, training=training))
    ```
    becomes
    ```python
    def network(x, params, training):
        x = dense(x, params["units"])
        return dropout(x, training=training)


    def model_fn(features, params, training):
        return network(features["x"], params, training=training)
    ```
    """
    project = drafts.project
    arguments = [*call.args, *(keyword.value for keyword in call.keywords)]
    added = next((argument for argument in arguments if _adds(module, argument)), None)
    found = project.definition(module, call.func) if added is not None else None
    if added is None or found is None or not isinstance(found.node, ast.FunctionDef):
        return []
    home, function = found.module, found.node
    if (
        function.decorator_list
        or not isinstance(home.parent(function), ast.Module)
        or home.path not in project.editable
    ):
        return []
    if [node for _, node in project.readers.of(home, home.analysis.root, function.name)] != [call.func]:
        return []
    try:
        parameter = next((name for name, value in given(function, call).items() if value is added), None)
    except Unsupported:
        return []
    assert isinstance(added, ast.Call)
    keys = [str(keyword.arg) for keyword in added.keywords]
    taken = {n.id for n in walk(function) if isinstance(n, ast.Name)} | set(parameters(function))
    reads = _reads(home, function, parameter) if parameter is not None else None
    if reads is None or taken & set(keys):
        return []
    wanted: list[tuple[Module, rewrite.Change]] = []
    for key, place in reads:
        if key in keys:
            if not isinstance(place, ast.Subscript):
                return []
            wanted.append((home, Replace(place, expr(key))))
    used = [key for key in keys if any(key == read for read, _ in reads)]
    if used:
        wanted.append((home, Replace(function, with_parameters(home.cst.statement(function), add=used))))
    values = {str(k.arg): module.cst.expression(k.value) for k in added.keywords if k.arg in used}
    at = arguments.index(added)
    new = with_arguments(module.cst.call(call), values={at: module.cst.expression(added.args[0])}, add=values)
    return Change.every([*wanted, (module, Replace(call, new))])


def _adds(module: Module, node: ast.expr) -> bool:
    """Whether an argument is ``dict(params, training=training)``."""
    if not isinstance(node, ast.Call) or not is_name(node.func, "dict") or "dict" in module.bound_names:
        return False
    named = bool(node.keywords) and all(keyword.arg is not None for keyword in node.keywords)
    return named and len(node.args) == 1 and isinstance(node.args[0], ast.Name)


def _reads(module: Module, function: ast.FunctionDef, name: str) -> list[tuple[str, ast.expr]] | None:
    """The entries of a parameter that a function reads, and where; None where it does anything else with it."""
    found: list[tuple[str, ast.expr]] = []
    for node in walk(function):
        if not is_name(node, name):
            continue
        parent = module.parent(node)
        if not isinstance(parent, (ast.Subscript, ast.Attribute)) or not isinstance(parent.ctx, ast.Load):
            return None
        key: ast.AST | None = parent.slice if isinstance(parent, ast.Subscript) else None
        place: ast.expr = parent
        if isinstance(parent, ast.Attribute):
            call = module.parent(parent)
            if parent.attr != "get" or not isinstance(call, ast.Call) or call.func is not parent or not call.args:
                return None
            key, place = call.args[0], call
        if not isinstance(key, ast.Constant) or not isinstance(key.value, str):
            return None
        if module.nearest(node, ast.JoinedStr) is not None:
            return None
        found.append((key.value, place))
    return found

"""A copy of a configuration whose fields a function changes for itself: the fields that it changes become variables.

``config = copy.deepcopy(config)`` and then ``config.dropout = 0.0`` outside of training is how networks turn dropout off.
"""

from __future__ import annotations

import ast

from migrator import rewrite
from migrator.normalise.desugaring import Desugaring
from migrator.normalise.draft.draft import Change, Drafts
from migrator.resolve.module import Module
from migrator.resolve.syntax import walk
from migrator.rewrite import Remove, Replace, statements

_COPIES = frozenset({"copy.deepcopy", "copy.copy"})


@Desugaring
def expand(drafts: Drafts, module: Module, function: ast.FunctionDef) -> list[Change]:
    """Edits that take one copy away of which nothing but fields is used.

    ```python
    import copy


    def network(x, config, training):
        config = copy.deepcopy(config)
        if not training:
            config.dropout = 0.0
        return dropout(x, config.dropout)
    ```
    becomes
    ```python
    import copy


    def network(x, config, training):
        config_dropout = config.dropout
        if not training:
            config_dropout = 0.0
        return dropout(x, config_dropout)
    ```
    """
    for statement in function.body:
        target = statement.targets[0] if isinstance(statement, ast.Assign) and len(statement.targets) == 1 else None
        call = statement.value if isinstance(statement, ast.Assign) else None
        if isinstance(target, ast.Name) and isinstance(call, ast.Call) and module.resolve(call.func) in _COPIES:
            if len(call.args) == 1 and isinstance(call.args[0], ast.Name) and not call.keywords:
                changes = _without(module, function, statement, target, call.args[0])
                if changes:
                    return changes
    return []


def _without(
    module: Module, function: ast.FunctionDef, statement: ast.stmt, target: ast.Name, source: ast.Name
) -> list[Change]:
    uses = _uses(module, function, statement, target, source)
    if uses is None:
        return []
    stored: dict[str, ast.Attribute] = {}
    for node in uses:
        if isinstance(node.ctx, ast.Store):
            stored.setdefault(node.attr, node)
    names = {n.id for n in walk(function) if isinstance(n, ast.Name)} | set(module.analysis.root.bindings)
    names |= {a.arg for a in walk(function) if isinstance(a, ast.arg)}
    new = {attr: attr if attr not in names else f"{target.id}_{attr}" for attr in stored}
    if set(new.values()) & names:
        return []
    first = [
        f"{new[attr]} = {source.id}.{attr}"
        for attr, node in stored.items()
        if not _is_set_first(module, function, node, uses)
    ]
    if module.indent(statement) is None:
        return []
    made = statements("\n".join(first))
    changes: list[rewrite.Change] = [Replace(statement, made) if made else Remove(statement)]
    for node in uses:
        if node.attr in new:
            changes.append(Replace(node, new[node.attr]))
        elif source.id != target.id:
            changes.append(Replace(node.value, source.id))
    return Change.of(module, *changes)


def _uses(
    module: Module, function: ast.FunctionDef, statement: ast.stmt, target: ast.Name, source: ast.Name
) -> list[ast.Attribute] | None:
    """The fields that are read or set below the copy; None where the copy itself, or what a field holds, may be changed."""
    scope = module.scope(target)
    same = source.id == target.id
    if len(scope.bindings.get(target.id, ())) != (2 if same else 1):
        return None
    if not same and len(module.bindings(source)) != 1:
        return None
    found: list[ast.Attribute] = []
    for node in walk(function):
        if not isinstance(node, ast.Name) or node.id != target.id or node is target or node is source:
            continue
        if (node.lineno, node.col_offset) < (statement.lineno, statement.col_offset):
            if same:  # what is copied, read before
                continue
            return None
        parent = module.parent(node)
        outer = module.parent(parent) if parent is not None else None
        if not isinstance(parent, ast.Attribute) or module.scope(node) is not scope:
            return None
        if module.nearest(node, ast.JoinedStr) is not None:
            return None
        called = isinstance(outer, ast.Call) and outer.func is parent
        inside = isinstance(outer, (ast.Attribute, ast.Subscript)) and outer.value is parent
        changed = inside and not isinstance(getattr(outer, "ctx", None), ast.Load)
        method = isinstance(outer, ast.Attribute) and isinstance(module.parent(outer), ast.Call)
        if isinstance(parent.ctx, ast.Del) or called or changed or method:
            return None
        found.append(parent)
    return found


def _is_set_first(module: Module, function: ast.FunctionDef, node: ast.Attribute, uses: list[ast.Attribute]) -> bool:
    """Whether a field is set on every way before it is read."""
    statement = module.statement(node)
    if statement not in function.body or not isinstance(statement, ast.Assign):
        return False
    return all(use.lineno > (statement.end_lineno or 0) for use in uses if use.attr == node.attr and use is not node)

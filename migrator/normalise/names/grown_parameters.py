"""A list or a dict of the params that a helper changes in place: the helper changes one of its own.

An Estimator gives its model_fn a copy of the params for each mode; where nothing else reads the entry, nobody sees the change.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from migrator.analyse.statements.names import MUTATORS
from migrator.normalise.draft.arguments import given
from migrator.normalise.draft.draft import Change, Drafts
from migrator.normalise.names.param_uses import grown
from migrator.normalise.names.set_entries import gets_a_copy
from migrator.normalise.names.spelled_entries import text_key
from migrator.normalise.objects.reserved import PARAMS
from migrator.resolve.module import Module
from migrator.resolve.project import Definition
from migrator.resolve.syntax import is_name, place_of, walk
from migrator.rewrite import Insert, Replace, expr, statements
from migrator.vocabulary.unsupported import Unsupported

if TYPE_CHECKING:
    import libcst as cst

    from migrator.rewrite import Statement

_LIST = frozenset({"append", "extend", "insert", "sort", "reverse"})
_DICT = frozenset({"update", "setdefault", "popitem"})


def grown_parameters(drafts: Drafts, models: Sequence[Definition]) -> list[Change]:
    """The changes for one parameter of a helper that the model_fns call; none where there is no more."""
    project = drafts.project
    seen: set[tuple[ast.AST, str]] = set()
    for model in models:
        for call in walk(model.node):
            helper = project.definition(model.module, call.func) if isinstance(call, ast.Call) else None
            if not isinstance(call, ast.Call) or helper is None or not isinstance(helper.node, ast.FunctionDef):
                continue
            for name in _given(helper.node, call):
                if (helper.node, name) in seen:
                    continue
                seen.add((helper.node, name))
                changes = _own(helper, name)
                if changes and _is_seen_nowhere_else(drafts, models, helper, name):
                    return changes
    return []


def _given(function: ast.FunctionDef, call: ast.Call) -> dict[str, ast.expr]:
    try:
        return given(function, call)
    except Unsupported:
        return {}


def _own(helper: Definition, name: str) -> list[Change]:
    """The changes by which a helper has what it changes for itself; none where it changes nothing, or binds the name anew."""
    module, function = helper.module, helper.node
    uses = [node for node in walk(function) if is_name(node, name)]
    if any(not isinstance(node, ast.Name) or not isinstance(node.ctx, ast.Load) for node in uses):
        return []
    changed = list(_changed(module, uses))
    kinds = {kind for kind, _ in changed}
    if len(kinds) != 1 or "" in kinds or any(module.scope(node) is not module.scope(function) for _, node in changed):
        return []
    (kind,) = kinds
    first = min((module.statement(node) for _, node in changed), key=lambda each: each.lineno)
    call = first.value if isinstance(first, ast.Expr) else None
    if first in function.body and isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute):
        template = grown(module, call.func) if is_name(call.func.value, name) else None
        if template is not None and not any(is_name(node, name) for node in walk(call.args[-1])):
            value = expr(template, old=expr(name), new=module.cst.expression(call.args[-1]))
            later = [node for node in uses if place_of(node) > place_of(first) and not module.is_inside(node, first)]
            return _renamed(module, Replace(first, _made(module, helper, name, value)), helper, name, later)
    if kind in module.bound_names or not isinstance(function, ast.FunctionDef):
        return []
    documented = ast.get_docstring(function, clean=False) is not None
    top = function.body[1 if documented and len(function.body) > 1 else 0]
    if top.lineno == function.lineno:
        return []
    copy = _made(module, helper, name, expr(f"{kind}({name})"))
    return _renamed(module, Insert(copy, before=top, above=True), helper, name, uses)


def _new_name(module: Module, helper: Definition, name: str) -> str:
    return module.unused_name(f"own_{name}", helper.node.body[0])


def _made(module: Module, helper: Definition, name: str, value: cst.BaseExpression) -> list[Statement]:
    return statements("{name} = {value}", name=_new_name(module, helper, name), value=value)


def _renamed(
    module: Module, change: Replace | Insert, helper: Definition, name: str, uses: Iterable[ast.AST]
) -> list[Change]:
    """A change that makes what a helper has for itself, with the places that use it."""
    if any(module.nearest(node, ast.JoinedStr) is not None for node in uses):
        return []
    new = _new_name(module, helper, name)
    return Change.of(module, change, *(Replace(node, expr(new)) for node in uses if isinstance(node, ast.expr)))


def _changed(module: Module, uses: Sequence[ast.AST]) -> Iterator[tuple[str, ast.AST]]:
    """Where a list or a dict is changed, and which of both it is seen to be; an empty text where neither is seen."""
    for node in uses:
        parent = module.parent(node)
        if isinstance(parent, ast.Subscript) and parent.value is node and not isinstance(parent.ctx, ast.Load):
            yield "dict" if text_key(parent.slice) is not None else "", node
        elif isinstance(parent, ast.Attribute) and parent.attr in MUTATORS:
            yield "list" if parent.attr in _LIST else "dict" if parent.attr in _DICT else "", node


def _is_seen_nowhere_else(drafts: Drafts, models: Sequence[Definition], helper: Definition, name: str) -> bool:
    """Whether every call of a helper gives something for a parameter that nothing else reads."""
    module, function = helper.module, helper.node
    if not isinstance(module.parent(function), ast.Module) or not isinstance(function, ast.FunctionDef):
        return False
    for where, reference in drafts.project.readers.of(module, module.analysis.root, function.name):
        call = where.parent(reference)
        model = next((each for each in models if where.is_inside(reference, each.node)), None)
        if model is None or not isinstance(call, ast.Call) or call.func is not reference:
            return False
        value = _given(function, call).get(name)
        if value is None or not (_is_literal(value) or _is_own_entry(drafts, model, value)):
            return False
    return True


def _is_literal(node: ast.expr) -> bool:
    return isinstance(node, (ast.List, ast.Dict, ast.ListComp, ast.DictComp))


def _is_own_entry(drafts: Drafts, model: Definition, node: ast.expr) -> bool:
    """Whether an expression is an entry of the params of a model_fn that nothing else reads, and that is read once."""
    key = text_key(node.slice) if isinstance(node, ast.Subscript) and is_name(node.value, PARAMS) else None
    if key is None or not gets_a_copy(drafts, model):
        return False
    module = model.module
    if module.nearest(node, ast.FunctionDef) is not model.node:
        return False
    outer = (parent for parent in module.ancestors(node) if module.is_inside(parent, model.node))
    if any(isinstance(each, (ast.For, ast.While, ast.Lambda, ast.comprehension, ast.ListComp)) for each in outer):
        return False
    for use in walk(model.node):
        if not is_name(use, PARAMS):
            continue
        parent = module.parent(use)
        if not isinstance(parent, ast.Subscript) or parent.value is not use or not isinstance(parent.ctx, ast.Load):
            return False
        if parent is not node and text_key(parent.slice) in (None, key):
            return False
    return True

"""Model_fns that are objects with `__call__`, or `functools.partial` around a method or another partial.

model_fn = ModelFn(hidden)                          model_fn = ModelFn(hidden)
Estimator(partial(model_fn, 0.1), …)                Estimator(partial(model_fn.__call__, rate=0.1), …)

What comes of it is followed as any method, and as any partial with keywords.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import TYPE_CHECKING

from migrator.normalise.draft.draft import Change, Drafts
from migrator.normalise.draft.roots import root_function
from migrator.normalise.functions.partials import PARTIAL
from migrator.normalise.objects.inherited import named_object
from migrator.normalise.objects.methods import class_of, lookup
from migrator.normalise.objects.reserved import PARAMS, params_of
from migrator.resolve.module import Module
from migrator.resolve.project import Project
from migrator.rewrite import Replace, expr, with_arguments
from migrator.vocabulary.unsupported import Unsupported

if TYPE_CHECKING:
    import libcst as cst

CALL = "__call__"


def inner_root(module: Module, node: ast.expr) -> ast.expr:
    """The expression of a function behind all of ``functools.partial``, be it in a name that is bound once."""
    partial = partial_behind(module, node)
    return node if partial is None else inner_root(module, partial.args[0])


def partial_behind(module: Module, node: ast.expr) -> ast.Call | None:
    """The call of `functools.partial` that an expression is, or that its name is bound to."""
    if isinstance(node, ast.Name):
        statement = module.assignment(node)
        if statement is None:
            return None
        node = statement.value
    known = isinstance(node, ast.Call) and module.resolve(node.func) == PARTIAL and node.args
    return node if known and isinstance(node, ast.Call) else None


def plain_partial(drafts: Drafts, module: Module, node: ast.expr) -> list[Change]:
    """The edits that leave one ``partial(f, a=1)`` of what fills arguments in by position, several times, or with the params
    that the Estimator could be given as well. Raises Unsupported."""
    partial = partial_behind(module, node)
    if partial is None:
        return []
    inner = partial.args[0]
    within = inner if isinstance(inner, ast.Call) and module.resolve(inner.func) == PARTIAL and inner.args else None
    if any(isinstance(a, ast.Starred) for a in partial.args) or any(k.arg is None for k in partial.keywords):
        raise Unsupported("a partial model_fn with * or ** is not followed", partial)
    if within is not None:
        return _flattened(module, partial, within)
    if len(partial.args) > 1:
        return _by_name(drafts.project, module, partial)
    return _params(drafts, module, partial) if partial is node else []


def called_object(drafts: Drafts, module: Module, node: ast.expr) -> list[Change]:
    """The edits that say which method runs where an object is called: a name for it first, then ``.__call__``."""
    project = drafts.project
    if isinstance(node, ast.Call):
        made = project.definition(module, node.func)
        has = made is not None and isinstance(made.node, ast.ClassDef) and lookup(project, made, CALL)
        return named_object(drafts, module, node) if has else []
    owner, is_class = class_of(project, module, node) if isinstance(node, ast.Name) else (None, False)
    if owner is None or is_class or lookup(project, owner, CALL) is None:
        return []
    return Change.every([(module, Replace(node, expr(f"{{object}}.{CALL}", object=module.cst.expression(node))))])


def _flattened(module: Module, partial: ast.Call, within: ast.Call) -> list[Change]:
    """``partial(partial(f, a=1), b=2)`` becomes ``partial(f, a=1, b=2)``."""
    outer = {keyword.arg for keyword in partial.keywords}
    kept = [k for k in within.keywords if k.arg not in outer]
    parts = [*within.args, *partial.args[1:], *kept, *partial.keywords]
    return Change.every([(module, Replace(partial, _filled(module, partial, parts)))])


def _filled(module: Module, partial: ast.Call, parts: Sequence[ast.AST]) -> cst.BaseExpression:
    """``functools.partial(…)`` of these arguments."""
    cst = module.cst
    return expr("{partial}({parts})", partial=cst.expression(partial.func), parts=[cst.node(part) for part in parts])


def _by_name(project: Project, module: Module, partial: ast.Call) -> list[Change]:
    """``partial(f, 1)`` becomes ``partial(f, a=1)``, where `f` names the features as such."""
    found = root_function(project, module, partial.args[0])
    if found is None or not isinstance(found.node, ast.FunctionDef):
        return []
    names = [argument.arg for argument in (*found.node.args.posonlyargs, *found.node.args.args)]
    filled = names[: len(partial.args) - 1]
    if "features" not in names or {"features", "labels", "mode"} & set(filled) or len(filled) < len(partial.args) - 1:
        raise Unsupported("a partial model_fn that fills in features, labels or the mode is not followed", partial)
    named = dict(enumerate(filled, 1))
    return Change.every([(module, Replace(partial, with_arguments(module.cst.call(partial), named=named)))])


def _params(drafts: Drafts, module: Module, partial: ast.Call) -> list[Change]:
    """``Estimator(partial(f, params=p))`` becomes ``Estimator(f, params=p)``."""
    project = drafts.project
    given = next((keyword for keyword in partial.keywords if keyword.arg == PARAMS), None)
    estimator = params_of(project, module, partial) if given is not None else None
    if given is None or estimator is None:
        return []
    function = root_function(project, module, partial.args[0])
    if function is not None:
        drafts.shared_params.add((function.module.path, function.name))
    rest = [keyword for keyword in partial.keywords if keyword is not given]
    new = _filled(module, partial, [partial.args[0], *rest]) if rest else module.cst.expression(partial.args[0])
    told = with_arguments(module.cst.call(estimator), add={PARAMS: module.cst.expression(given.value)})
    return Change.every([(module, Replace(partial, new)), (module, Replace(estimator, told))])

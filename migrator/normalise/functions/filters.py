"""Functions that choose variables: ``[… for v in tf.trainable_variables() if keep(v.name)]`` says what `keep` asks."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from migrator.normalise.draft.draft import Change, Drafts
from migrator.normalise.functions.inline import Inliner
from migrator.resolve.module import Module
from migrator.resolve.project import Definition
from migrator.resolve.syntax import is_name, walk
from migrator.rewrite import Replace

if TYPE_CHECKING:
    import libcst as cst


def filter_call(drafts: Drafts, module: Module, call: ast.Call, definition: Definition) -> list[Change]:
    """The edits that put what the function of one condition asks into a comprehension that calls it."""
    function = definition.node
    if isinstance(definition.module.parent(function), ast.Module):
        return []  # it stays where it is
    parent = module.parent(call)
    while isinstance(parent, (ast.BoolOp, ast.UnaryOp)):
        parent = module.parent(parent)
    if not isinstance(parent, ast.comprehension) or not isinstance(function, ast.FunctionDef) or call.keywords:
        return []
    target = parent.target.id if isinstance(parent.target, ast.Name) else None
    of_variable = [isinstance(a, ast.Attribute) and a.attr == "name" and is_name(a.value, target) for a in call.args]
    body = [s for s in function.body if not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant))]
    if of_variable != [True] or len(body) != 1 or not isinstance(body[0], ast.Return) or body[0].value is None:
        return []
    value = body[0].value
    if call in parent.ifs and isinstance(value, ast.Constant) and value.value is True:
        whole = module.parent(parent)
        made = module.cst.node(whole) if whole is not None else None
        loop = getattr(made, "for_in", None)
        if whole is None or made is None or loop is None:
            return []
        new = made.with_changes(for_in=_without(loop, module.cst.expression(call)))
        return Change.of(module, Replace(whole, new))
    if isinstance(call.func, ast.Name) and call.func.id == function.name:
        return []  # it stays beside what calls it
    if any(isinstance(node, (ast.Call, ast.Lambda)) for node in walk(value) if not _is_method(node)):
        return []
    return Inliner(drafts, module, call, definition).changes()


def _without(loop: cst.CompFor, gone: cst.BaseExpression) -> cst.CompFor:
    """The loops of a comprehension without a condition."""
    inner = loop.inner_for_in
    rest = [one for one in loop.ifs if one.test is not gone]
    return loop.with_changes(ifs=rest, inner_for_in=None if inner is None else _without(inner, gone))


def _is_method(node: ast.AST) -> bool:
    """``name.startswith("dense")``."""
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)

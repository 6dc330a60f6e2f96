"""Functions that choose variables: ``[… for v in tf.trainable_variables() if keep(v.name)]`` says what `keep` asks."""

from __future__ import annotations

import ast

from migrator.normalise.draft.draft import Change, Drafts
from migrator.normalise.functions.inline import Inliner
from migrator.resolve.module import Module
from migrator.resolve.project import Definition
from migrator.resolve.syntax import is_name, walk


def settled_choice(module: Module, statement: ast.stmt) -> list[Change]:
    """``keep = None or every`` is ``keep = every``; ``keep = own or every`` is ``keep = own`` where `own` is a function."""
    value = statement.value if isinstance(statement, ast.Assign) else None
    if not isinstance(value, ast.BoolOp) or not isinstance(value.op, ast.Or):
        return []
    first, *rest = value.values
    if isinstance(first, ast.Constant) and first.value is None:
        start, end = module.span(rest[0])[0], module.span(rest[-1])[1]
        return [Change(module.edit(value, module.source[start:end].decode()))]
    bound = [binding.node for binding in module.bindings(first)] if isinstance(first, ast.Name) else []
    if len(bound) == 1 and isinstance(bound[0], ast.FunctionDef):
        return [Change(module.edit(value, module.segment(first)))]
    return []


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
        before = max(
            module.span(node)[1]
            for node in (parent.iter, *parent.ifs)
            if node.lineno <= call.lineno and node is not call
        )
        return [Change(module.edit((before, module.span(call)[1]), ""))]
    if isinstance(call.func, ast.Name) and call.func.id == function.name:
        return []  # it stays beside what calls it
    if any(isinstance(node, (ast.Call, ast.Lambda)) for node in walk(value) if not _is_method(node)):
        return []
    return Inliner(drafts, module, call, definition).changes()


def _is_method(node: ast.AST) -> bool:
    """``name.startswith("dense")``."""
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)

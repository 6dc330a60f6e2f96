"""``scope.reuse_variables()``: from there on a scope finds the variables that exist, as if it had been entered so."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.statements.names import targets
from migrator.analyse.variables.scopes import CURRENT_SCOPE, VARIABLE_SCOPE, scope_calls
from migrator.resolve.syntax import walk

if TYPE_CHECKING:
    from migrator.analyse.function.body import Body
    from migrator.analyse.statements.flow import Frame, Leaf
    from migrator.resolve.module import Module

METHOD = "reuse_variables"


def reused_scope(module: Module, node: ast.AST) -> ast.expr | None:
    """The scope that a statement tells to reuse its variables."""
    call = node.value if isinstance(node, ast.Expr) else None
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute) or call.func.attr != METHOD:
        return None
    scope = call.func.value
    current = isinstance(scope, ast.Call) and module.resolve(scope.func) == CURRENT_SCOPE
    return scope if not call.args and not call.keywords and (current or isinstance(scope, ast.Name)) else None


def tells(body: Body, leaf: Leaf) -> bool:
    """Whether a statement only tells a scope around it to reuse its variables."""
    return reused_scope(body.module, leaf.node) is not None and _told(body, leaf) is not None


def _told(body: Body, leaf: Leaf) -> tuple[Frame, ...] | None:
    """The frames down to the scope that a statement tells to reuse its variables; None where that is not seen."""
    scope = reused_scope(body.module, leaf.node)
    for depth in range(len(leaf.frames), 0, -1):
        node = leaf.frames[depth - 1].node
        for item in node.items if isinstance(node, ast.With) else ():
            held = targets(item.optional_vars) if item.optional_vars is not None else set()
            opens = isinstance(item.context_expr, ast.Call)
            if opens and body.module.resolve(item.context_expr.func) == VARIABLE_SCOPE:  # type: ignore[attr-defined]
                if not isinstance(scope, ast.Name) or scope.id in held:
                    return leaf.frames[:depth]
    outermost = isinstance(scope, ast.Call) and body.mode is not None
    return () if outermost else None  # a helper would tell the scope that its caller stands in


def reuse_values(body: Body, leaf: Leaf) -> Iterator[ast.expr]:
    """What is said of reuse around a statement: by scopes, and to them before."""
    for call in scope_calls(body, leaf):
        yield from (k.value for k in call.keywords if k.arg == "reuse")
    if METHOD.encode() not in body.module.source:
        return
    for other in body.flow.leaves:
        if reused_scope(body.module, other.node) is None:
            continue
        told = _told(body, other)
        if told is None:
            raise Unsupported("which scope is told to reuse its variables is not seen", other.node)
        inside = leaf.frames[: len(told)] == told
        again = any(loop in leaf.loops for loop in other.loops if all(loop is not f.node for f in told))
        if inside and (other.index < leaf.index or again):
            yield _condition(other, told)


def values_told(body: Body) -> Iterator[ast.expr]:
    """When the scopes of a body are told to reuse their variables."""
    for leaf in body.flow.leaves:
        if reused_scope(body.module, leaf.node) is not None:
            yield _condition(leaf, _told(body, leaf) or ())


def _condition(leaf: Leaf, told: tuple[Frame, ...]) -> ast.expr:
    """When a statement runs that tells a scope to reuse its variables; the statement's own value where that is not simple."""
    tests = [frame for frame in leaf.frames[len(told) :] if isinstance(frame.node, ast.If)]
    assert isinstance(leaf.node, ast.Expr)
    if len(tests) == 1 and tests[0].arm == "body" and isinstance(tests[0].node, ast.If):
        return tests[0].node.test
    return leaf.node.value


def tests_of_reuse(module: Module, function: ast.AST) -> set[ast.Name]:
    """The names that conditions read which do nothing but tell a scope to reuse its variables."""
    found: set[ast.Name] = set()
    for node in walk(function):
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and not node.orelse and len(node.body) == 1:
            if reused_scope(module, node.body[0]) is not None:
                found.add(node.test)
    return found

"""Assertions that are ops of the graph: they stand where `tf.control_dependencies` runs them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from migrator.analyse.results.assertions import DEPENDENCIES, is_assertion
from migrator.normalise.desugaring import Desugaring
from migrator.normalise.draft.draft import Change, Drafts
from migrator.normalise.draft.returns import own_statements
from migrator.resolve.module import Module
from migrator.rewrite import Remove, Replace, expr


@Desugaring
def expand(drafts: Drafts, module: Module, function: ast.FunctionDef) -> list[Change]:
    """``op = tf.assert_less(…)`` right before ``with tf.control_dependencies([op])``: the op goes into the list.

    ```python
    import tensorflow as tf


    def network(x):
        small = tf.assert_less(x, 10.0)
        with tf.control_dependencies([small]):
            x = tf.identity(x)
        return x
    ```
    becomes
    ```python
    import tensorflow as tf


    def network(x):
        with tf.control_dependencies([tf.assert_less(x, 10.0)]):
            x = tf.identity(x)
        return x
    ```
    """
    for body in _bodies(function):
        for before, statement in zip(body, body[1:]):
            target = before.targets[0] if isinstance(before, ast.Assign) and len(before.targets) == 1 else None
            if not isinstance(before, ast.Assign) or not isinstance(target, ast.Name):
                continue
            if not is_assertion(module, before.value) or len(module.bindings(target)) != 1:
                continue
            scope = module.scope(target)
            reads = [n for n in module.loads(target.id) if module.scope(n).lookup(target.id) is scope]
            if len(reads) == 1 and any(reads[0] is listed for listed in _listed(module, statement)):
                text = _one_line(module, before)
                if text is not None:
                    return Change.of(module, Remove(before), Replace(reads[0], expr(text)))
    return []


def _one_line(module: Module, statement: ast.Assign) -> str | None:
    """The value of an assignment in one line; None where comments would be lost, or a text is of several lines."""
    start, _ = module.span(statement)
    end = module.source.find(b"\n", module.span(statement)[1])
    if module.comments_in(start, len(module.source) if end < 0 else end):
        return None
    text = re.sub(r"([(\[{])\s*\n\s*", r"\1", module.segment(statement.value))
    text = re.sub(r"\s*\n\s*", " ", text)
    return text if ast.dump(ast.parse(text, mode="eval").body) == ast.dump(statement.value) else None


def _bodies(function: ast.FunctionDef) -> Iterator[list[ast.stmt]]:
    yield function.body
    for node in own_statements(function.body):
        for name in ("body", "orelse"):
            body = getattr(node, name, None)
            if isinstance(body, list) and isinstance(node, (ast.With, ast.If, ast.For)):
                yield body


def _listed(module: Module, statement: ast.stmt) -> list[ast.expr]:
    """What a scope of control dependencies lists."""
    for item in statement.items if isinstance(statement, ast.With) else ():
        call = item.context_expr
        if isinstance(call, ast.Call) and module.resolve(call.func) == DEPENDENCIES and len(call.args) == 1:
            return call.args[0].elts if isinstance(call.args[0], (ast.List, ast.Tuple)) else []
    return []

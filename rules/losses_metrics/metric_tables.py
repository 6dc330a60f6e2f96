"""Loops over metric functions that are written out, turn by turn."""

from __future__ import annotations

import ast

from migrator.emit.render import Renderer
from migrator.normalise.desugaring import Desugaring
from migrator.normalise.draft.draft import Change, Drafts
from migrator.normalise.draft.returns import own_statements
from migrator.resolve.module import Module
from migrator.resolve.syntax import walk
from migrator.rewrite import Replace, lines

from .metrics import METRICS

_LASTING = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef, ast.JoinedStr)
"""What may read a name when it has another value, and what has no reliable place."""


@Desugaring
def expand(drafts: Drafts, module: Module, function: ast.FunctionDef) -> list[Change]:
    """The edits for the first such loop of a function; none if there is none.

    ```python
    import tensorflow as tf


    def eval_metrics(labels, classes):
        metrics = {}
        for name, metric in [("precision", tf.metrics.precision), ("recall", tf.metrics.recall)]:
            metrics[name] = metric(labels, classes)
        return metrics
    ```
    becomes
    ```python
    import tensorflow as tf


    def eval_metrics(labels, classes):
        metrics = {}
        metrics["precision"] = tf.metrics.precision(labels, classes)
        metrics["recall"] = tf.metrics.recall(labels, classes)
        return metrics
    ```
    """
    for node in own_statements(function.body):
        turns = _turns(module, node) if isinstance(node, ast.For) and _is_plain(module, node) else []
        if turns:
            assert isinstance(node, ast.For)
            text = "\n".join(line for turn in turns for line in _written(module, node, turn))
            return Change.of(module, Replace(node, lines(text + "\n")))
    return []


def _targets(node: ast.For) -> list[ast.Name]:
    """The names that a loop binds; none where it binds more than names."""
    every = node.target.elts if isinstance(node.target, ast.Tuple) else [node.target]
    found = [target for target in every if isinstance(target, ast.Name)]
    return found if len(found) == len(every) else []


def _is_plain(module: Module, node: ast.For) -> bool:
    """Whether nothing but the statements of a loop reads its names, and each turn takes all of them."""
    inside = [part for statement in node.body for part in walk(statement)]
    if node.orelse or any(isinstance(part, (*_LASTING, ast.Break, ast.Continue, ast.Return)) for part in inside):
        return False
    for target in _targets(node):
        scope = module.scope(target).lookup(target.id)
        loads = module.loads_of(target.id, scope)
        if len(module.bindings(target)) != 1 or not all(any(part is load for part in inside) for load in loads):
            return False
    return bool(_targets(node))


def _turns(module: Module, node: ast.For) -> list[dict[str, str]]:
    """What the names of a loop stand for in each turn, if metric functions are among that."""
    names = [target.id for target in _targets(node)]
    shown = node.iter.elts if isinstance(node.iter, (ast.List, ast.Tuple)) else []
    rows = [list(row.elts) if isinstance(row, (ast.Tuple, ast.List)) else [row] for row in shown]
    call = node.iter
    if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.Dict):
        table = call.func.value
        if call.func.attr != "items" or call.args or None in table.keys:
            return []
        rows = [[key, value] for key, value in zip(table.keys, table.values) if key is not None]
    if any(len(row) != len(names) for row in rows) or any(not _is_fixed(module, part) for row in rows for part in row):
        return []
    metrics = [part for row in rows for part in row if module.resolve(part) in METRICS]
    return [dict(zip(names, map(module.segment, row))) for row in rows] if metrics else []


def _is_fixed(module: Module, node: ast.expr) -> bool:
    """Whether an expression is the same wherever it stands."""
    return isinstance(node, ast.Constant) or (module.resolve(node) or "").startswith("tensorflow.")


def _written(module: Module, node: ast.For, turn: dict[str, str]) -> list[str]:
    """The statements of one turn."""

    def text(part: ast.AST) -> str | None:
        return turn.get(part.id) if isinstance(part, ast.Name) else None

    return [line for statement in node.body for line in Renderer(module).statement(statement, text, "")]

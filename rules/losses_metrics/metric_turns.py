"""Loops over texts that are written down, whose turns make a metric and read it, turn by turn."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from migrator.normalise.desugaring import Desugaring
from migrator.normalise.draft.draft import Change, Drafts
from migrator.normalise.draft.returns import own_statements
from migrator.resolve.module import Module
from migrator.resolve.syntax import walk
from migrator.rewrite import Replace, Unprintable, code, expr

from .folded_texts import folded_text, quoted
from .metrics import METRICS

if TYPE_CHECKING:
    import libcst as cst

    from migrator.rewrite import Statement

_MANY = 16
_MAY_CHANGE = (ast.Attribute, ast.Subscript, ast.Call, ast.Assign, ast.Return)
_JUMPS = (
    ast.Break,
    ast.Continue,
    ast.Return,
    ast.Yield,
    ast.YieldFrom,
    ast.Await,
    ast.Global,
    ast.Nonlocal,
    ast.Lambda,
)


@Desugaring
def expand(drafts: Drafts, module: Module, function: ast.FunctionDef) -> list[Change]:
    """Edits for the first such loop of a function; none where a turn may be left, or its text is changed.

    ```python
    import tensorflow as tf


    def model_fn(labels, classes):
        metrics = {}
        for task in ["click", "buy"]:
            metrics["accuracy_" + task] = tf.metrics.accuracy(labels[task], classes[task])
            tf.summary.scalar(task, metrics["accuracy_" + task][1])
        return metrics
    ```
    becomes
    ```python
    import tensorflow as tf


    def model_fn(labels, classes):
        metrics = {}
        metrics["accuracy_click"] = tf.metrics.accuracy(labels["click"], classes["click"])
        tf.summary.scalar("click", metrics["accuracy_click"][1])
        metrics["accuracy_buy"] = tf.metrics.accuracy(labels["buy"], classes["buy"])
        tf.summary.scalar("buy", metrics["accuracy_buy"][1])
        return metrics
    ```
    """
    for node in own_statements(function.body):
        target = node.target if isinstance(node, ast.For) and not node.orelse else None
        texts = _texts(module, node.iter) if isinstance(node, ast.For) else []
        if not isinstance(node, ast.For) or not isinstance(target, ast.Name) or not 0 < len(texts) <= _MANY:
            continue
        inner = [n for statement in node.body for n in walk(statement) if isinstance(n, ast.Name)]
        own = {n.id for n in inner if not isinstance(n.ctx, ast.Load)}
        if not _reads_metric(module, node) or not _is_plain(module, function, node, {target.id, *own}):
            continue
        if target.id in own or any(module.bound_names & {f"{name}_{_word(text)}" for text in texts} for name in own):
            continue
        try:
            rows = [_turned(module, statement, target.id, text, own) for text in texts for statement in node.body]
        except Unprintable:
            continue
        return Change.of(module, Replace(node, rows))
    return []


def _texts(module: Module, node: ast.expr) -> list[str]:
    """The texts of a list that is written down, in the head of the loop or once in a name; none for all others."""
    made = module.assignment(node) if isinstance(node, ast.Name) else None
    if made is not None and isinstance(node, ast.Name):
        loads = module.loads_of(node.id, module.scope(node).lookup(node.id))
        if isinstance(made.value, ast.List) and any(isinstance(module.parent(n), _MAY_CHANGE) for n in loads):
            return []
        node = made.value
    parts = node.elts if isinstance(node, (ast.List, ast.Tuple)) else []
    texts = [part.value for part in parts if isinstance(part, ast.Constant) and isinstance(part.value, str)]
    words = {_word(text) for text in texts}
    return texts if len(texts) == len(parts) == len(words) and all(words) else []


def _word(text: str) -> str:
    return re.sub(r"\W+", "_", text).strip("_").lower()


def _reads_metric(module: Module, loop: ast.For) -> bool:
    """Whether a turn makes a metric, and takes its value or its update: ``metric[1]``, ``metrics[key][1]``."""
    inner = [node for statement in loop.body for node in walk(statement)]
    if not any(isinstance(node, ast.Call) and module.resolve(node.func) in METRICS for node in inner):
        return False
    taken = (node for node in inner if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load))
    pairs = (n for n in inner if isinstance(n, ast.Assign) and isinstance(n.targets[0], ast.Tuple))
    return any(isinstance(n.slice, ast.Constant) and n.slice.value in (0, 1) for n in taken) or any(pairs)


def _is_plain(module: Module, function: ast.FunctionDef, loop: ast.For, names: set[str]) -> bool:
    """Whether nothing leaves a turn before its end, and nothing reads the `names` that it binds after it."""
    if any(isinstance(node, _JUMPS) for statement in loop.body for node in walk(statement)):
        return False
    inside = {id(node) for node in walk(loop)}
    outside = (n for n in walk(function) if isinstance(n, ast.Name) and n.id in names and id(n) not in inside)
    return all(_is_of_a_loop(module, node) for node in outside)


def _is_of_a_loop(module: Module, name: ast.Name) -> bool:
    """Whether a loop or a comprehension around a name gives it its value."""
    heads = [a.target for a in module.ancestors(name) if isinstance(a, ast.For)]
    for outer in module.ancestors(name):
        heads += [loop.target for loop in getattr(outer, "generators", [])]
    return any(isinstance(n, ast.Name) and n.id == name.id for head in heads for n in walk(head))


def _turned(module: Module, statement: ast.stmt, target: str, text: str, own: set[str]) -> Statement:
    """A statement in the turn of a text, whose own names end with it."""

    def instead(node: ast.AST) -> cst.BaseExpression | None:
        if isinstance(node, ast.Name) and node.id in own:
            return expr(f"{node.id}_{_word(text)}")
        folded = folded_text(node, {target: text}) if isinstance(node, ast.expr) else None
        return None if folded is None else code(quoted(folded))

    return module.cst.substituted(statement, instead)

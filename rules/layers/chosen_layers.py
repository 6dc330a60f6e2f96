"""Layers of one of two ways, ``net = cross(x) if use_cross else deep(x)``: only those of the one that is taken are made."""

from __future__ import annotations

import ast

from migrator.normalise.desugaring import Desugaring
from migrator.normalise.draft.draft import Change, Drafts
from migrator.resolve.module import Module
from migrator.resolve.syntax import is_name, walk
from migrator.rewrite import Replace, statements

from .extra_keywords import makes_layers
from .layers import LAYERS

_WEIGHTLESS = frozenset(
    {"dropout", "flatten", "activation", "leaky_relu", "leakyrelu", "relu", "softmax", "lambda", "reshape"}
)


def _has_weights(name: str) -> bool:
    """Whether layers of a name have weights, or may have some."""
    short = name.rpartition(".")[2].lower()
    return name in LAYERS and short not in _WEIGHTLESS and "pool" not in short


@Desugaring
def expand(drafts: Drafts, module: Module, function: ast.FunctionDef) -> list[Change]:
    """The changes for one such statement of a function; none if there is no more.

    ```python
    import tensorflow as tf


    def network(x, cross):
        x = tf.layers.dense(x, 8) if cross else x
        return tf.layers.dense(x, 2) if cross else tf.layers.dense(x, 1)
    ```
    becomes
    ```python
    import tensorflow as tf


    def network(x, cross):
        if cross:
            x = tf.layers.dense(x, 8)
        if cross:
            return tf.layers.dense(x, 2)
        else:
            return tf.layers.dense(x, 1)
    ```
    """
    for statement in walk(function):
        if not isinstance(statement, (ast.Assign, ast.AugAssign, ast.Return)) or module.indent(statement) is None:
            continue
        value = statement.value
        if isinstance(value, ast.IfExp) and any(
            makes_layers(drafts.project, module, arm, _has_weights) for arm in (value.body, value.orelse)
        ):
            changes = _branches(module, statement, value)
            if changes:
                return changes
    return []


def _branches(module: Module, statement: ast.Assign | ast.AugAssign | ast.Return, value: ast.IfExp) -> list[Change]:
    """A statement for each way, below the condition."""
    cst = module.cst
    head, kept = "return", True
    if not isinstance(statement, ast.Return):
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        target = targets[0]
        if not isinstance(target, ast.Name) or len(targets) > 1:
            return []
        head = f"{target.id} =" if isinstance(statement, ast.Assign) else _augmented(statement)
        kept = not isinstance(statement, ast.Assign) or not is_name(value.orelse, target.id)
    parts = {"test": cst.expression(value.test), "body": cst.expression(value.body)}
    text = f"if {{test}}:\n    {head} {{body}}"
    if kept:
        text, parts["orelse"] = f"{text}\nelse:\n    {head} {{orelse}}", cst.expression(value.orelse)
    return Change.of(module, Replace(statement, statements(text, **parts)))


def _augmented(statement: ast.AugAssign) -> str:
    """``x +=``."""
    text = ast.unparse(ast.AugAssign(statement.target, statement.op, statement.target))
    return text.rpartition(" ")[0]

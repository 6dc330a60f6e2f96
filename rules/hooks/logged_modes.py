"""Messages of a model_fn that say its mode: nothing calls a Keras model with one, so they go, and the report says so."""

from __future__ import annotations

import ast

from migrator.analyse.statements.loggers import is_message
from migrator.normalise.desugaring import Desugaring
from migrator.normalise.draft.draft import Change, Drafts
from migrator.normalise.draft.returns import own_statements
from migrator.resolve.module import Module
from migrator.resolve.syntax import walk

_MODE = "mode"


@Desugaring
def expand(drafts: Drafts, module: Module, function: ast.FunctionDef) -> list[Change]:
    """The edits that take such messages out of a function.

    ```python
    import tensorflow as tf


    def model_fn(features, labels, mode):
        tf.logging.info("mode: %s", mode)
        return tf.layers.dense(features["x"], 1)
    ```
    becomes
    ```python
    import tensorflow as tf


    def model_fn(features, labels, mode):
        return tf.layers.dense(features["x"], 1)
    ```
    """
    if _MODE not in {a.arg for a in (*function.args.args, *function.args.kwonlyargs)}:
        return []
    changes: list[Change] = []
    for statement in own_statements(function.body):
        call = statement.value if isinstance(statement, ast.Expr) else None
        if isinstance(call, ast.Call) and is_message(module, call) and _says_mode(module, call):
            drafts.remark(module, call, "a message with the mode is dropped: a Keras model is not told any")
            changes.append(Change(module.delete_statement(statement)))
    return changes


def _says_mode(module: Module, call: ast.Call) -> bool:
    """Whether the mode is a part of the message, and not only compared."""
    named = (n for n in walk(call) if isinstance(n, ast.Name) and n.id == _MODE and len(module.bindings(n)) == 1)
    return any(not isinstance(module.parent(node), ast.Compare) for node in named)

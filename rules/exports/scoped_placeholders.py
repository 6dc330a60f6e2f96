"""Scopes around the placeholders of a serving function, which are called by the keys of their dict in whatever scope they are."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from migrator.analyse.variables.scopes import SCOPES
from migrator.normalise.desugaring import Desugaring
from migrator.normalise.draft.draft import Change, Drafts
from migrator.resolve.module import Module
from migrator.resolve.project import Project
from migrator.resolve.syntax import walk
from migrator.rewrite import Replace

from ..loop.places import has_its_line

_PLACEHOLDER = "tensorflow.placeholder"
_RECEIVERS = "tensorflow.estimator.export."


@Desugaring
def expand(drafts: Drafts, paths: Sequence[str]) -> None:
    """Leaves out a scope in which only placeholders, and what is served by them, are made.

    ```python
    import tensorflow as tf


    def serving_input_fn():
        with tf.variable_scope("inputs"):
            ids = tf.placeholder(tf.int32, [None, 16], name="ids")
            return tf.estimator.export.ServingInputReceiver({"ids": ids}, {"ids": ids})
    ```
    becomes
    ```python
    import tensorflow as tf


    def serving_input_fn():
        ids = tf.placeholder(tf.int32, [None, 16], name="ids")
        return tf.estimator.export.ServingInputReceiver({"ids": ids}, {"ids": ids})
    ```
    """
    drafts.apply_all(paths, _found)


def _found(project: Project, module: Module) -> Iterator[list[Change]]:
    """The changes for each of them."""
    if b"placeholder" not in module.source:
        return
    for scope in (node for node in walk(module.tree) if isinstance(node, ast.With)):
        made = scope.items[0].context_expr if len(scope.items) == 1 else None
        if not isinstance(made, ast.Call) or module.resolve(made.func) not in SCOPES or scope.items[0].optional_vars:
            continue
        if _only_serves(module, scope) and has_its_line(module, scope):
            yield Change.of(module, Replace(scope, [*map(module.cst.statement, scope.body)]))


def _only_serves(module: Module, scope: ast.With) -> bool:
    """Whether all that is called in a scope makes placeholders and receivers, some of them placeholders."""
    calls = [node for each in scope.body for node in walk(each) if isinstance(node, ast.Call)]
    names = [module.resolve(call.func.func if isinstance(call.func, ast.Call) else call.func) or "" for call in calls]
    plain = all(isinstance(each, (ast.Assign, ast.Return)) for each in scope.body)
    return plain and _PLACEHOLDER in names and all(n == _PLACEHOLDER or n.startswith(_RECEIVERS) for n in names)

"""Functions and methods that make the scope which is entered around layers: ``with self._model_scope():``."""

from __future__ import annotations

import ast

from migrator.analyse.variables.scopes import SCOPES
from migrator.normalise.desugaring import Desugaring
from migrator.normalise.draft.draft import Change, Drafts
from migrator.normalise.draft.globals import OuterNames
from migrator.normalise.draft.returns import sole_value
from migrator.normalise.functions.applied import substituted
from migrator.normalise.functions.idle import unsaid
from migrator.resolve.module import Module
from migrator.rewrite import Replace
from migrator.vocabulary.unsupported import Unsupported


@Desugaring
def expand(drafts: Drafts, module: Module, call: ast.Call) -> list[Change]:
    """The edits that enter the scope which a function returns, where no more than that stands in it; none for other calls.

    ```python
    import tensorflow as tf


    def scope(name):
        return tf.variable_scope("net/" + name)


    def network(images):
        with scope("first"):
            return tf.layers.dense(images, 8)
    ```
    becomes
    ```python
    import tensorflow as tf


    def network(images):
        with tf.variable_scope("net/" + "first"):
            return tf.layers.dense(images, 8)
    ```
    """
    found = drafts.project.definition(module, call.func) if isinstance(module.parent(call), ast.withitem) else None
    function = found.node if found is not None else None
    if found is None or not isinstance(function, ast.FunctionDef) or function.decorator_list:
        return []
    made = sole_value(function)
    if not isinstance(made, ast.Call) or found.module.resolve(made.func) not in SCOPES:
        return []
    names = OuterNames()
    try:
        new = substituted(drafts, module, call, found.module, function, made, names)
    except Unsupported:
        return []
    changes = Change.of(module, Replace(call, new), *names.changes)
    return [*changes, *unsaid(drafts, changes, found.module.path, function.name)]

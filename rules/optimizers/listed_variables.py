"""Lists of variables amid what takes gradients get a name, as the step reads them twice."""

from __future__ import annotations

import ast

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.training.updates import gradient_arguments, is_method
from migrator.normalise.desugaring import Desugaring
from migrator.normalise.draft.draft import Change, Drafts
from migrator.normalise.draft.spelled import spelled
from migrator.resolve.module import Module
from migrator.rewrite import statements

_LISTS = (ast.Call, ast.ListComp, ast.BinOp)


@Desugaring
def expand(drafts: Drafts, module: Module, call: ast.Call) -> list[Change]:
    """The changes that give such a list a name; none for other calls.

    ```python
    import tensorflow as tf


    def gradients(optimizer, loss):
        return optimizer.compute_gradients(loss, tf.get_collection(tf.GraphKeys.TRAINABLE_VARIABLES, "deep"))
    ```
    becomes
    ```python
    import tensorflow as tf


    def gradients(optimizer, loss):
        variables = tf.get_collection(tf.GraphKeys.TRAINABLE_VARIABLES, "deep")
        return optimizer.compute_gradients(loss, variables)
    ```
    """
    try:
        listed = gradient_arguments(call).get("var_list") if is_method(call, "compute_gradients") else None
    except Unsupported:
        return []
    if not isinstance(listed, _LISTS) or _is_every(module, listed):
        return []
    value = module.cst.expression(listed)
    return spelled(module, listed, "variables", lambda name: statements("{name} = {value}", name=name, value=value))


def _is_every(module: Module, listed: ast.expr) -> bool:
    """Whether a list is that of all trainable variables."""
    plain = isinstance(listed, ast.Call) and not listed.args and not listed.keywords
    return plain and module.resolve(listed.func) == "tensorflow.trainable_variables"  # type: ignore[attr-defined]

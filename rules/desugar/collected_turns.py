"""Loops over the variables that add a loss to a collection for each: one loss is their sum."""

from __future__ import annotations

import ast

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.function.translate import bind
from migrator.normalise.desugaring import Desugaring
from migrator.normalise.draft.draft import Change, Drafts
from migrator.resolve.module import Module
from migrator.resolve.syntax import walk
from migrator.rewrite import Replace, expr, statements, with_arguments

from ..symbols.tensorflow_names import tensorflow_root

_ADDING = {
    "tensorflow.add_to_collection": ("name value", "value"),
    "tensorflow.losses.add_loss": ("loss loss_collection", "loss"),
}
_LOSSES = ("losses", "regularization_losses")


@Desugaring
def expand(drafts: Drafts, module: Module, function: ast.FunctionDef) -> list[Change]:
    """The changes for one such loop; none if there is no more.

    ```python
    import tensorflow as tf


    def model_fn(features, labels, mode):
        for v in tf.trainable_variables():
            if "kernel" in v.name:
                tf.losses.add_loss(0.1 * tf.nn.l2_loss(v))
    ```
    becomes
    ```python
    import tensorflow as tf


    def model_fn(features, labels, mode):
        tf.losses.add_loss(tf.reduce_sum([0.1 * tf.nn.l2_loss(v) for v in tf.trainable_variables() if "kernel" in v.name]))
    ```
    """
    for loop in walk(function):
        if not isinstance(loop, ast.For) or loop.orelse or not isinstance(loop.target, ast.Name):
            continue
        listed = loop.iter
        if not isinstance(listed, ast.Call) or module.resolve(listed.func) != "tensorflow.trainable_variables":
            continue
        only = loop.body[0] if len(loop.body) == 1 else None
        test = only.test if isinstance(only, ast.If) and not only.orelse else None
        inner = only.body[0] if isinstance(only, ast.If) and test is not None and len(only.body) == 1 else only
        call = inner.value if isinstance(inner, ast.Expr) else None
        root = tensorflow_root(module, listed.func)
        loss = _loss(module, call) if isinstance(call, ast.Call) else None
        if not isinstance(call, ast.Call) or loss is None or root is None or root[1]:
            continue
        file = module.cst
        condition = " if {test}" if test is not None else ""
        holes = {"test": file.expression(test)} if test is not None else {}
        added = "add_n" if test is None else "reduce_sum"  # the first one takes no empty list
        made = expr(
            f"{{tf}}.{added}([{{loss}} for {{v}} in {{listed}}{condition}])",
            tf=root[0], loss=file.expression(loss), v=loop.target.id, listed=file.expression(listed), **holes,
        )  # fmt: skip
        keyword = next((each for each in call.keywords if each.value is loss), None)
        at = call.args.index(loss) if keyword is None else 0
        collected = with_arguments(
            file.call(call),
            drop=[at] if keyword is None else [str(keyword.arg)],
            insert={at: [made]} if keyword is None else {},
            add={} if keyword is None else {str(keyword.arg): made},
        )
        return Change.of(module, Replace(loop, statements("{collected}", collected=collected)))
    return []


def _loss(module: Module, call: ast.Call) -> ast.expr | None:
    """The loss that a call adds to a collection of losses."""
    signature, name = _ADDING.get(module.resolve(call.func) or "", ("", ""))
    try:
        given = bind(call, signature, "add_to_collection") if signature else {}
    except Unsupported:
        return None
    key = given.get("name", given.get("loss_collection"))
    if key is not None:
        told = key.value if isinstance(key, ast.Constant) else (module.resolve(key) or "").rpartition(".")[2].lower()
        if told not in _LOSSES:
            return None
    return given.get(name)

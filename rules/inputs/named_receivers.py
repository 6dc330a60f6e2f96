"""Names that a serving function has for the receiver which it returns at once."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from migrator.normalise.desugaring import Desugaring
from migrator.normalise.draft.draft import Change, Drafts
from migrator.resolve.module import Module
from migrator.resolve.project import Project
from migrator.resolve.reaching import block_of
from migrator.resolve.syntax import walk
from migrator.rewrite import Remove, Replace

from ..exports.fed_features import RAW, RECEIVER


@Desugaring
def expand(drafts: Drafts, paths: Sequence[str]) -> None:
    """Returns a receiver without a name for it.

    ```python
    import tensorflow as tf


    def serving_input_fn():
        ids = tf.placeholder(tf.int32, [None, 16], name="ids")
        input_fn = tf.estimator.export.build_raw_serving_input_receiver_fn({"ids": ids})()
        return input_fn
    ```
    becomes
    ```python
    import tensorflow as tf


    def serving_input_fn():
        ids = tf.placeholder(tf.int32, [None, 16], name="ids")
        return tf.estimator.export.build_raw_serving_input_receiver_fn({"ids": ids})()
    ```
    """
    drafts.apply_all(paths, _found)


def _found(project: Project, module: Module) -> Iterator[list[Change]]:
    """The changes for each of them."""
    for last in walk(module.tree) if b"eceiver" in module.source else ():
        if not isinstance(last, ast.Return):
            continue
        statement = module.assignment(last.value) if isinstance(last.value, ast.Name) else None
        block = block_of(module, last)
        if statement is None or not isinstance(last.value, ast.Name) or block[: block.index(last)][-1:] != [statement]:
            continue
        made = statement.value
        function = made.func.func if isinstance(made, ast.Call) and isinstance(made.func, ast.Call) else None
        function = made.func if function is None and isinstance(made, ast.Call) else function
        serves = function is not None and module.resolve(function) in (RAW, RECEIVER)
        if serves and module.loads_of(last.value.id, module.scope(last)) == [last.value]:
            yield Change.of(module, Replace(last.value, module.cst.expression(made)), Remove(statement))

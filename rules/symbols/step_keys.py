"""The key of the global step by its constant: what looks for the key looks for the text of it."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from migrator.normalise.desugaring import Desugaring
from migrator.normalise.draft.draft import Change, Drafts
from migrator.resolve.module import Module
from migrator.resolve.project import Project
from migrator.rewrite import Replace, expr

_KEY = "tensorflow.GraphKeys.GLOBAL_STEP"
_READERS = frozenset({"get", "pop", "get_variable_value"})


@Desugaring
def expand(drafts: Drafts, paths: Sequence[str]) -> None:
    """Writes out the key of an entry, or the name of a variable.

    ```python
    import tensorflow as tf

    metrics = estimator.evaluate(input_fn)
    print(metrics["loss"], metrics[tf.GraphKeys.GLOBAL_STEP])
    ```
    becomes
    ```python
    import tensorflow as tf

    metrics = estimator.evaluate(input_fn)
    print(metrics["loss"], metrics["global_step"])
    ```
    """
    drafts.apply_all(paths, _found)


def _found(project: Project, module: Module) -> Iterator[list[Change]]:
    """The changes for each place."""
    del project
    for node, name in module.references() if b"GLOBAL_STEP" in module.source else ():
        if name == _KEY and _is_key(module, node):
            yield Change.of(module, Replace(node, expr('"global_step"')))


def _is_key(module: Module, node: ast.expr) -> bool:
    """Whether something is looked up by it."""
    parent = module.parent(node)
    if isinstance(parent, ast.Call):
        return isinstance(parent.func, ast.Attribute) and parent.func.attr in _READERS and node is not parent.func
    return isinstance(parent, (ast.Subscript, ast.Compare)) or isinstance(parent, ast.Dict) and node in parent.keys

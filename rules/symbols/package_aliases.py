"""Names that a program gives to packages of Estimator's library, which TensorFlow 2 does not have."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from migrator.normalise.desugaring import Desugaring
from migrator.normalise.draft.draft import Change, Drafts
from migrator.resolve.module import Module
from migrator.resolve.project import Project
from migrator.rewrite import Remove, Replace

from .tensorflow_names import root_name

_ESTIMATOR = "tensorflow.estimator"
_PACKAGES = frozenset({_ESTIMATOR, *(f"{_ESTIMATOR}.{part}" for part in ("experimental", "export", "inputs", "tpu"))})


@Desugaring
def expand(drafts: Drafts, paths: Sequence[str]) -> None:
    """Calls what is in such a package by its whole name.

    ```python
    import tensorflow as tf

    tpu = tf.estimator.tpu
    config = tpu.RunConfig(model_dir="out")
    ```
    becomes
    ```python
    import tensorflow as tf

    config = tf.estimator.tpu.RunConfig(model_dir="out")
    ```
    """
    drafts.apply_all(paths, _found)


def _found(project: Project, module: Module) -> Iterator[list[Change]]:
    """The changes for each name."""
    if b"stimator" not in module.source:
        return
    for node, name in module.references():
        statement = module.parent(node) if name in _PACKAGES else None
        if isinstance(statement, ast.Assign) and statement.value is node:
            yield _spelled(project, module, statement)


def _spelled(project: Project, module: Module, statement: ast.Assign) -> list[Change]:
    """The changes for a name that nothing but this statement binds, in one file; none for others."""
    target, value = statement.targets[0], statement.value
    scope = module.scope(target).holder(target.id) if isinstance(target, ast.Name) else None
    if not isinstance(target, ast.Name) or scope is None or len(statement.targets) > 1 or scope.kind == "class":
        return []
    root, bindings = root_name(value), module.bindings(target)
    if [binding.alias for binding in bindings] != [value] or project.readers.elsewhere(module, scope, target.id):
        return []
    home = module.scope(value).lookup(root.id)
    loads = module.loads_of(target.id, scope)
    if any(module.scope(load).lookup(root.id) is not home for load in loads):
        return []  # where its first part is something else
    whole = module.cst.expression(value)
    return Change.of(module, Remove(statement), *(Replace(load, whole) for load in loads))

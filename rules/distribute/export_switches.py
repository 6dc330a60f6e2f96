"""Attributes that say of a TPUEstimator how it exports: ``estimator._export_to_tpu = False``, which only one with TPUs reads."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from migrator.normalise.desugaring import Desugaring
from migrator.normalise.draft.draft import Change, Drafts
from migrator.resolve.module import Module
from migrator.resolve.project import Project
from migrator.resolve.reaching import block_of
from migrator.rewrite import Remove

from ..loop.places import has_its_line

_SWITCHES = frozenset({"_export_to_tpu", "_export_to_cpu"})


@Desugaring
def expand(drafts: Drafts, paths: Sequence[str]) -> None:
    """Takes them away, as a SavedModel has but one graph, for whatever runs it.

    ```python
    import tensorflow as tf

    estimator = tf.contrib.tpu.TPUEstimator(model_fn, config=config, train_batch_size=32)
    estimator._export_to_tpu = False
    estimator.export_savedmodel("export", serving_input_fn)
    ```
    becomes
    ```python
    import tensorflow as tf

    estimator = tf.contrib.tpu.TPUEstimator(model_fn, config=config, train_batch_size=32)
    estimator.export_savedmodel("export", serving_input_fn)
    ```
    """
    drafts.apply_all(paths, _found)


def _found(project: Project, module: Module) -> Iterator[list[Change]]:
    """The changes for each of them."""
    if b"_export_to_" not in module.source:
        return
    stored = [node for node in module.nodes(ast.Attribute) if node.attr in _SWITCHES]
    if any(not isinstance(node.ctx, ast.Store) or not isinstance(node.value, ast.Name) for node in stored):
        return  # the program reads it itself, or it is that of an object of its own
    for node in stored:
        statement = module.parent(node)
        if not isinstance(statement, ast.Assign) or statement.targets != [node] or not has_its_line(module, statement):
            continue
        plain = (
            isinstance(statement.value, ast.Constant) and isinstance(node.value, ast.Name) and node.value.id != "self"
        )
        if plain and len(block_of(module, statement)) > 1:
            yield Change.of(module, Remove(statement))

"""Model_fns that stand inside of a method, and read nothing of it but its object."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from migrator.normalise.desugaring import Desugaring
from migrator.normalise.draft.draft import Change, Drafts
from migrator.normalise.functions.nested_methods import as_methods
from migrator.resolve.calls import call_of
from migrator.resolve.module import Module
from migrator.resolve.project import Project

from ..estimator_calls.estimator_kinds import KINDS


@Desugaring
def expand(drafts: Drafts, paths: Sequence[str]) -> None:
    """Makes methods of them, as those are that the object is asked for.

    ```python
    import tensorflow as tf


    class Trainer:
        def __init__(self, units):
            self.units = units

        def estimator(self):
            def model_fn(features, labels, mode):
                return self.spec(tf.layers.dense(features["x"], self.units), labels, mode)

            return tf.estimator.Estimator(model_fn)
    ```
    becomes
    ```python
    import tensorflow as tf


    class Trainer:
        def __init__(self, units):
            self.units = units

        def estimator(self):
            return tf.estimator.Estimator(self.model_fn)

        def model_fn(self, features, labels, mode):
            return self.spec(tf.layers.dense(features["x"], self.units), labels, mode)
    ```
    """
    drafts.apply_all(paths, _found)


def _found(project: Project, module: Module) -> Iterator[list[Change]]:
    """The changes for each of them."""
    if b"class " not in module.source or b"stimator" not in module.source:
        return
    for node, name in module.references():
        call = call_of(module, node) if name in KINDS else None
        if call is None:
            continue
        for value in [*(k.value for k in call.keywords if k.arg == "model_fn"), *call.args[:1]]:
            found = [binding.node for binding in module.bindings(value)] if isinstance(value, ast.Name) else []
            if len(found) == 1 and isinstance(found[0], ast.FunctionDef):
                yield as_methods(project, module, found[0])

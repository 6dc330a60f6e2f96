"""`tf.summary.FileWriterCache.clear()`, which forgets the writers of the summaries of earlier trainings."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from migrator.normalise.desugaring import Desugaring
from migrator.normalise.draft.draft import Drafts
from migrator.resolve.calls import call_of
from migrator.resolve.module import Module
from migrator.rewrite import Remove

_CLEAR = "tensorflow.summary.FileWriterCache.clear"
_WRITING = ("Hook", "FileWriter", "SessionManager", "Supervisor", "MonitoredTrainingSession")
"""What the names of those that use such writers end with."""


@Desugaring
def expand(drafts: Drafts, paths: Sequence[str]) -> None:
    """Leaves it out, where the Estimators of a program alone had such writers: those of TensorFlow 2 end with their training.

    ```python
    import tensorflow as tf


    def train(estimator, input_fn):
        tf.summary.FileWriterCache.clear()
        estimator.train(input_fn)
    ```
    becomes
    ```python
    import tensorflow as tf


    def train(estimator, input_fn):
        estimator.train(input_fn)
    ```
    """
    modules = [drafts.project.modules[path] for path in paths]
    if not any(b"FileWriterCache" in module.source for module in modules):
        return
    if not any(name.endswith(_WRITING) for each in drafts.project.modules.values() for _, name in each.references()):
        drafts.settle(paths, lambda module: map(Remove, _cleared(module)))


def _cleared(module: Module) -> list[ast.stmt]:
    calls = [call_of(module, node) for node, name in module.references() if name == _CLEAR]
    outer = [module.parent(call) for call in calls if call is not None]
    return [statement for statement in outer if isinstance(statement, ast.Expr)]

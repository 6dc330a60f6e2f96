"""An EstimatorSpec with an argument that it does not have, in a mode that nobody asks for: the call is a TypeError."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from migrator.analyse.function.specs import SPEC, SPEC_FIELDS
from migrator.normalise.desugaring import Desugaring
from migrator.normalise.draft.draft import Change, Drafts
from migrator.resolve.module import Module
from migrator.rewrite import Replace, statements

_FIELDS = frozenset(SPEC_FIELDS.split())
_TOLD = "EstimatorSpec has no argument `{}`: the program ended with a TypeError here, and the model knows nothing of this mode"


@Desugaring
def expand(drafts: Drafts, paths: Sequence[str]) -> None:
    """Says that it is one.

    ```python
    import tensorflow as tf


    def model_fn(features, labels, mode):
        logits = tf.layers.dense(features["x"], 1)
        if mode == tf.estimator.ModeKeys.PREDICT:
            return tf.estimator.EstimatorSpec(labels=labels, predictions={"logits": logits})
        return tf.estimator.EstimatorSpec(mode, loss=tf.losses.mean_squared_error(labels, logits))
    ```
    becomes
    ```python
    import tensorflow as tf


    def model_fn(features, labels, mode):
        logits = tf.layers.dense(features["x"], 1)
        if mode == tf.estimator.ModeKeys.PREDICT:
            raise TypeError("EstimatorSpec has no argument `labels`")
        return tf.estimator.EstimatorSpec(mode, loss=tf.losses.mean_squared_error(labels, logits))
    ```
    """
    drafts.apply_all(paths, lambda _, module: _found(drafts, module))


def _found(drafts: Drafts, module: Module) -> Iterator[list[Change]]:
    """The changes for each of them that stands under a condition: a model_fn that only ends so is left to be refused."""
    if b"EstimatorSpec(" not in module.source:
        return
    for function, name in module.references():
        call = module.parent(function)
        if name != SPEC or not isinstance(call, ast.Call) or call.func is not function:
            continue
        returned = module.parent(call)
        unknown = [keyword.arg for keyword in call.keywords if keyword.arg is not None and keyword.arg not in _FIELDS]
        if unknown and isinstance(returned, ast.Return) and isinstance(module.parent(returned), ast.If):
            drafts.remark(module, call, _TOLD.format(unknown[0]))
            text = f'raise TypeError("EstimatorSpec has no argument `{unknown[0]}`")'
            yield Change.of(module, Replace(returned, statements(text)))

"""Names of what the forward pass computes that stand for something else where predictions are made: that has its own name."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from migrator.normalise.desugaring import Desugaring
from migrator.normalise.draft.draft import Change, Drafts
from migrator.normalise.draft.local_names import quoted, straight_statements
from migrator.resolve.module import Module
from migrator.resolve.syntax import place_of, target_name, walk
from migrator.rewrite import Replace

_PREDICT = frozenset({"PREDICT", "INFER"})


@Desugaring
def expand(drafts: Drafts, module: Module, function: ast.FunctionDef) -> list[Change]:
    """The changes for one such name, in a block that returns; none if there is no more.

    ```python
    import tensorflow as tf


    def model_fn(features, labels, mode):
        image = tf.layers.conv2d(features, 3, 3)
        if mode == tf.estimator.ModeKeys.PREDICT:
            image = tf.clip_by_value(image, 0.0, 1.0)
            return tf.estimator.EstimatorSpec(mode, predictions={"image": image})
        loss = tf.losses.absolute_difference(labels, image)
    ```
    becomes
    ```python
    import tensorflow as tf


    def model_fn(features, labels, mode):
        image = tf.layers.conv2d(features, 3, 3)
        if mode == tf.estimator.ModeKeys.PREDICT:
            predicted_image = tf.clip_by_value(image, 0.0, 1.0)
            return tf.estimator.EstimatorSpec(mode, predictions={"image": predicted_image})
        loss = tf.losses.absolute_difference(labels, image)
    ```
    """
    scope = module.scope(function.body[0])
    for block in straight_statements(function.body):
        if not isinstance(block, ast.If) or not isinstance(block.body[-1], ast.Return) or not _predicts(block.test):
            continue
        for statement, name in _bound(block):
            found = [n for n in walk(function) if isinstance(n, ast.Name) and n.id == name]
            end = _end(block.body[-1])
            stores = [n for n in found if isinstance(n.ctx, ast.Store) and place_of(n) < place_of(block)]
            later = [n for n in found if place_of(n) > end]
            own = [n for n in found if n is statement.targets[0] or _end(statement) <= place_of(n) < end]
            inner = any(module.scope(n) is not scope for n in found)
            if stores and later and not inner and not quoted(function, own):
                new = module.unused_name(f"predicted_{name}", function.body[0])
                drafts.rename(new, name)
                return Change.of(module, *(Replace(n, new) for n in own))
    return []


def _predicts(test: ast.expr) -> bool:
    """Whether a condition asks for the mode of predictions."""
    if not isinstance(test, ast.Compare) or len(test.ops) != 1 or not isinstance(test.ops[0], ast.Eq):
        return False
    return any(isinstance(side, ast.Attribute) and side.attr in _PREDICT for side in (test.left, *test.comparators))


def _bound(block: ast.If) -> Iterator[tuple[ast.Assign, str]]:
    """The statements of a block that give values to names."""
    for statement in block.body:
        name = target_name(statement) if isinstance(statement, ast.Assign) else None
        if isinstance(statement, ast.Assign) and name is not None and len(statement.targets) == 1:
            yield statement, name


def _end(node: ast.stmt) -> tuple[int, int]:
    return node.end_lineno or node.lineno, node.end_col_offset or 0

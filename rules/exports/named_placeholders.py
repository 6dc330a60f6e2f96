"""Placeholders that a name holds until a dict of features takes them: they stand in the dict, as exports look for them there."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from migrator.normalise.desugaring import Desugaring
from migrator.normalise.draft.draft import Change, Drafts
from migrator.resolve.module import Module
from migrator.resolve.project import Project
from migrator.resolve.reaching import read_once
from migrator.rewrite import Remove, Replace

from ..loop.places import has_its_line, moves
from .fed_features import RAW


@Desugaring
def expand(drafts: Drafts, paths: Sequence[str]) -> None:
    """Writes each placeholder where it is read, if that is but one place.

    ```python
    import tensorflow as tf

    image = tf.placeholder(tf.float32, [None, 28])
    serving_input_fn = tf.estimator.export.build_raw_serving_input_receiver_fn({"image": image})
    ```
    becomes
    ```python
    import tensorflow as tf

    serving_input_fn = tf.estimator.export.build_raw_serving_input_receiver_fn({"image": tf.placeholder(tf.float32, [None, 28])})
    ```
    """
    drafts.apply_all(paths, _found)


def _found(project: Project, module: Module) -> Iterator[list[Change]]:
    """The changes for each of them."""
    for node, name in module.references():
        made = module.parent(node) if name == RAW else None
        given = [*made.args[:1], *(k.value for k in made.keywords)] if isinstance(made, ast.Call) else []
        for features in given:
            held = module.assignment(features)
            table = held.value if held is not None else features
            for value in table.values if isinstance(table, ast.Dict) else ():
                statement = read_once(module, value) if isinstance(value, ast.Name) else None
                if statement is not None and _goes(module, statement, value):
                    new = Replace(value, module.cst.expression(statement.value))
                    yield Change.of(module, Remove(statement), new)


def _goes(module: Module, statement: ast.Assign, load: ast.expr) -> bool:
    """Whether a statement makes a placeholder alone that means the same where its name is read."""
    made = statement.value
    if not isinstance(made, ast.Call) or module.resolve(made.func) != "tensorflow.placeholder":
        return False
    parts = [*made.args, *(keyword.value for keyword in made.keywords)]
    return len(statement.targets) == 1 and has_its_line(module, statement) and moves(module, statement, load, parts)

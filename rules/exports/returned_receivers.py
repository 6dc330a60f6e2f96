"""Functions that return what parses the examples which a SavedModel is fed: they return the features to parse instead."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from migrator import rewrite
from migrator.normalise.desugaring import Desugaring
from migrator.normalise.draft.draft import Change, Drafts
from migrator.normalise.draft.returns import own_returns
from migrator.normalise.values.callers import calls_of
from migrator.resolve.module import Module
from migrator.resolve.project import Definition, Project
from migrator.rewrite import Replace, expr

from .fed_features import PARSING
from .placeholders import arguments_of_call


@Desugaring
def expand(drafts: Drafts, paths: Sequence[str]) -> None:
    """Lets those that call it say what is made of the features.

    ```python
    import tensorflow as tf


    def serving(columns):
        spec = tf.feature_column.make_parse_example_spec(columns)
        return tf.estimator.export.build_parsing_serving_input_receiver_fn(spec)


    def export(estimator, columns):
        estimator.export_saved_model("export", serving(columns))
    ```
    becomes
    ```python
    import tensorflow as tf


    def serving(columns):
        spec = tf.feature_column.make_parse_example_spec(columns)
        return spec


    def export(estimator, columns):
        estimator.export_saved_model("export", tf.estimator.export.build_parsing_serving_input_receiver_fn(serving(columns)))
    ```
    """
    drafts.apply_all(paths, _found)


def _found(project: Project, module: Module) -> Iterator[list[Change]]:
    """The changes for each such function."""
    for function in module.tree.body if b"serving_input_receiver_fn" in module.source else ():
        if isinstance(function, ast.FunctionDef) and not function.decorator_list:
            yield _told(project, module, function)


def _told(project: Project, module: Module, function: ast.FunctionDef) -> list[Change]:
    last = function.body[-1]
    made = last.value if isinstance(last, ast.Return) else None
    if not isinstance(made, ast.Call) or module.resolve(made.func) != PARSING or len(own_returns(function)) != 1:
        return []
    given = arguments_of_call(made, "feature_spec default_batch_size")
    calls, elsewhere = calls_of(project, Definition(module, function))
    if given is None or set(given) != {"feature_spec"} or elsewhere or not calls:
        return []
    if any(other is not module for other, _ in calls):
        return []
    changes: list[rewrite.Change] = [Replace(made, module.cst.expression(given["feature_spec"]))]
    for _, call in calls:
        new = expr("{parsing}({call})", parsing=module.cst.expression(made.func), call=module.cst.expression(call))
        changes.append(Replace(call, new))
    return Change.of(module, *changes)

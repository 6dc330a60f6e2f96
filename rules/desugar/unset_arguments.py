"""An argument of an Estimator that says nothing: no params, or what holds a parameter that is None wherever it comes from."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from migrator.analyse.function.translate import is_none
from migrator.normalise.desugaring import Desugaring
from migrator.normalise.draft.draft import Change, Drafts
from migrator.normalise.names.registries import is_empty
from migrator.normalise.objects.reserved import PARAMS
from migrator.resolve.calls import arguments, call_of
from migrator.resolve.module import Module
from migrator.resolve.project import Project
from migrator.rewrite import Replace, with_arguments

from ..estimator_calls.estimator_kinds import KINDS
from ..loop.values import values_of

_OPTIONAL = frozenset({"config", "label_vocabulary", "warm_start_from", "weight_column"})
"""Arguments that say nothing where they are None."""


@Desugaring
def expand(drafts: Drafts, paths: Sequence[str]) -> None:
    """Takes such arguments away.

    ```python
    import tensorflow as tf


    def build(folder, warm_start_from=None):
        return tf.estimator.LinearClassifier(columns, model_dir=folder, warm_start_from=warm_start_from)


    def main(argv):
        build(argv[1]).train(input_fn, steps=1000)
    ```
    becomes
    ```python
    import tensorflow as tf


    def build(folder, warm_start_from=None):
        return tf.estimator.LinearClassifier(columns, model_dir=folder)


    def main(argv):
        build(argv[1]).train(input_fn, steps=1000)
    ```
    """
    drafts.apply_all(paths, _found)


def _found(project: Project, module: Module) -> Iterator[list[Change]]:
    """The changes for each call that makes an Estimator."""
    if b"stimator" not in module.source:
        return
    for node, name in module.references():
        call = call_of(module, node) if name in KINDS else None
        if call is None:
            continue
        unset = [
            at
            for at, argument in enumerate(arguments(call))
            if isinstance(argument, ast.keyword)
            and (
                argument.arg == PARAMS
                and (is_empty(argument.value) or is_none(argument.value))
                or argument.arg in _OPTIONAL
                and isinstance(argument.value, (ast.Name, ast.Attribute))
                and _is_unset(project, module, argument.value)
            )
        ]
        if unset:
            yield Change.of(module, Replace(call, with_arguments(module.cst.call(call), drop=unset)))


def _is_unset(project: Project, module: Module, node: ast.expr) -> bool:
    """Whether all that an expression may be is None."""
    values = values_of(project, module, node)
    return bool(values) and all(is_none(value) for _, value in values)

"""Lambdas that make Estimators, which become functions with a name: there is room in these for more than one expression."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from migrator.normalise.desugaring import Desugaring
from migrator.normalise.draft.draft import Change, Drafts
from migrator.resolve.calls import call_of
from migrator.resolve.module import Module
from migrator.resolve.syntax import target_name
from migrator.rewrite import Insert, Replace, Statement, statements

from ..estimator_calls.estimator_kinds import KINDS


@Desugaring
def expand(drafts: Drafts, paths: Sequence[str]) -> None:
    """Defines them above the table that has them, or in the place of their name.

    ```python
    import tensorflow as tf

    MODELS = {
        "linear": lambda folder: tf.estimator.LinearRegressor(COLUMNS, model_dir=folder),
    }
    ```
    becomes
    ```python
    import tensorflow as tf


    def make_linear(folder):
        return tf.estimator.LinearRegressor(COLUMNS, model_dir=folder)


    MODELS = {
        "linear": make_linear,
    }
    ```
    """
    drafts.apply_all(paths, lambda _, module: _found(module))


def _found(module: Module) -> Iterator[list[Change]]:
    """The changes for each of them."""
    if b"lambda" not in module.source or b"stimator" not in module.source:
        return
    for reference, made in module.references():
        call = call_of(module, reference) if made in KINDS else None
        node = module.parent(call) if call is not None else None
        if not isinstance(node, ast.Lambda):
            continue
        statement = module.parent(node)
        if isinstance(statement, ast.Assign) and (name := target_name(statement)) is not None:
            yield Change.of(module, Replace(statement, _function(module, node, name)))
            continue
        table = statement
        held = module.parent(table) if isinstance(table, ast.Dict) and node in table.values else None
        if (
            not isinstance(table, ast.Dict)
            or not isinstance(held, ast.Assign)
            or module.comments_in(*module.span(node))
        ):
            continue
        key = table.keys[table.values.index(node)]
        word = key.value if isinstance(key, ast.Constant) and isinstance(key.value, str) else ""
        name = module.unused_name(f"make_{word}" if f"make_{word}".isidentifier() else "make", held)
        yield Change.of(module, Insert(_function(module, node, name), before=held, apart=True), Replace(node, name))


def _function(module: Module, node: ast.Lambda, name: str) -> list[Statement]:
    given = module.source[module.span(node)[0] + len("lambda") : module.span(node.body)[0]].decode()
    head = f"def {name}({given.rpartition(':')[0].strip()}):\n    return {{body}}"
    return statements(head, body=module.cst.expression(node.body))

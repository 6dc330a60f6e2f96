"""What `train_and_evaluate` returns gets a name where a call is given it, such as one of `print`: `fit` takes statements."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator, Sequence

from migrator.normalise.desugaring import Desugaring
from migrator.normalise.draft.draft import Change, Drafts
from migrator.normalise.draft.spelled import spelled
from migrator.resolve.module import Module
from migrator.resolve.syntax import walk
from migrator.rewrite import Statement, statements

from ..loop.specs import TRAIN_AND_EVALUATE

_PLAIN = (ast.Constant, ast.Name, ast.Attribute, ast.JoinedStr)


@Desugaring
def expand(drafts: Drafts, paths: Sequence[str]) -> None:
    """Names such a result, where nothing else in its statement is computed before.

    ```python
    import tensorflow as tf


    def main(estimator, train_spec, eval_spec):
        print("done", tf.estimator.train_and_evaluate(estimator, train_spec, eval_spec))
    ```
    becomes
    ```python
    import tensorflow as tf


    def main(estimator, train_spec, eval_spec):
        results = tf.estimator.train_and_evaluate(estimator, train_spec, eval_spec)
        print("done", results)
    ```
    """
    drafts.apply_all(paths, lambda _, module: _found(module))


def _found(module: Module) -> Iterator[list[Change]]:
    """The changes for each result."""
    for call in module.nodes(ast.Call) if b"train_and_evaluate" in module.source else ():
        around = module.parent(call)
        if module.resolve(call.func) != TRAIN_AND_EVALUATE or not isinstance(around, ast.Call):
            continue
        others = [argument for argument in around.args if argument is not call]
        alone = call in around.args and isinstance(module.parent(around), ast.Expr) and not around.keywords
        calls = any(isinstance(part, ast.Call) for other in (around.func, *others) for part in walk(other))
        if alone and not calls and all(isinstance(other, _PLAIN) for other in (around.func, *others)):
            yield spelled(module, call, "results", functools.partial(_named, module, call))


def _named(module: Module, call: ast.Call, name: str) -> list[Statement]:
    return statements("{name} = {value}", name=name, value=module.cst.expression(call))

"""An Estimator for several devices or machines is made where it is trained, as the strategy is made around both."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from migrator.normalise.desugaring import Desugaring
from migrator.normalise.draft.draft import Drafts
from migrator.normalise.draft.returns import own_returns
from migrator.resolve.calls import call_of
from migrator.resolve.module import Module
from migrator.resolve.project import Project

from ..distribute.distribution import only_trains_and_evaluates, speaks_of_several
from ..estimator_calls.estimator_values import ESTIMATOR
from .returned_configs import put_in_place


@Desugaring
def expand(drafts: Drafts, paths: Sequence[str]) -> None:
    """Puts functions that make the Estimator, or are given it, in the place of their one call.

    ```python
    import tensorflow as tf
    from model import model_fn, read


    def build(folder):
        config = tf.estimator.RunConfig(folder, train_distribute=tf.distribute.MirroredStrategy())
        return tf.estimator.Estimator(model_fn, config=config)


    def main(folder):
        estimator = build(folder)
        estimator.train(read, steps=100)
    ```
    becomes
    ```python
    import tensorflow as tf
    from model import model_fn, read


    def main(folder):
        config = tf.estimator.RunConfig(folder, train_distribute=tf.distribute.MirroredStrategy())
        estimator = tf.estimator.Estimator(model_fn, config=config)
        estimator.train(read, steps=100)
    ```
    """
    modules = list(drafts.project.modules.values())
    if speaks_of_several(modules, "auto") and not only_trains_and_evaluates(modules, "auto"):
        put_in_place(drafts, paths, _makes)
        put_in_place(drafts, paths, _is_given)


def _makes(project: Project, module: Module, function: ast.FunctionDef) -> bool:
    """Whether a function ends by returning the Estimator that it makes."""
    returns = own_returns(function)
    value = returns[0].value if len(returns) == 1 and returns[0] is function.body[-1] else None
    if function.decorator_list or value is None:
        return False
    if isinstance(value, ast.Name):
        bindings = module.bindings(value)
        statement = module.parent(bindings[0].node) if len(bindings) == 1 else None
        return isinstance(statement, ast.Assign) and _is_made(module, statement.value)
    return _is_made(module, value)


def _is_made(module: Module, node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and module.resolve(node.func) == ESTIMATOR


def _is_given(project: Project, module: Module, function: ast.FunctionDef) -> bool:
    """Whether the one call of a function gives it an Estimator that has a name there."""
    returns = own_returns(function)
    if function.decorator_list or len(returns) > 1 or (returns and returns[0] is not function.body[-1]):
        return False
    uses = list(project.readers.of(module, module.analysis.root, function.name))
    if len(uses) != 1:
        return False
    where, call = uses[0][0], call_of(*uses[0])
    if call is None:
        return False
    for given in [*call.args, *(keyword.value for keyword in call.keywords)]:
        bindings = where.bindings(given) if isinstance(given, ast.Name) else []
        statement = where.parent(bindings[0].node) if len(bindings) == 1 else None
        if isinstance(statement, ast.Assign) and _is_made(where, statement.value):
            return True
    return False

"""`model`, which a nested model_fn reads of the function around it, under another name: the Keras model has that one."""

from __future__ import annotations

import ast

from migrator.normalise.desugaring import Desugaring
from migrator.normalise.draft.draft import Change, Drafts
from migrator.normalise.draft.local_names import quoted
from migrator.resolve.module import Module
from migrator.resolve.syntax import walk
from migrator.rewrite import Replace, expr

_NAME = "model"
_OTHER = "network"


@Desugaring
def expand(drafts: Drafts, module: Module, function: ast.FunctionDef) -> list[Change]:
    """The edits that give it the other name, in the function that binds it as well; none where it is a parameter of that one.

    ```python
    import tensorflow as tf


    def main(options):
        model = Ranker(options)

        def model_fn(features, labels, mode):
            return model.spec(features, labels, mode)

        return tf.estimator.Estimator(model_fn)
    ```
    becomes
    ```python
    import tensorflow as tf


    def main(options):
        network = Ranker(options)

        def model_fn(features, labels, mode):
            return network.spec(features, labels, mode)

        return tf.estimator.Estimator(model_fn)
    ```
    """
    holder = module.scope(function).lookup(_NAME)
    holder = (
        holder if holder is not None and holder.node is not function else module.scope(function.body[0]).lookup(_NAME)
    )
    around = holder.node if holder is not None and holder.kind == "function" else None
    if holder is None or not isinstance(around, ast.FunctionDef) or around not in module.ancestors(function):
        return []
    nodes = [
        n for n in walk(around) if isinstance(n, ast.Name) and n.id == _NAME and module.scope(n).lookup(_NAME) is holder
    ]
    bound = [binding.node for binding in holder.bindings[_NAME]]
    if not any(function in module.ancestors(node) for node in nodes) or quoted(around, nodes):
        return []
    if any(node not in nodes or isinstance(module.parent(node), (ast.Global, ast.Nonlocal)) for node in bound):
        return []
    taken = {n.id for n in walk(module.tree) if isinstance(n, ast.Name)} | {
        a.arg for a in walk(module.tree) if isinstance(a, ast.arg)
    }
    name = _OTHER
    while name in taken or module.scope(around).lookup(name) is not None:
        name += "_"
    return Change.of(module, *(Replace(node, expr(name)) for node in nodes))

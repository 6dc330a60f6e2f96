"""`tf.contrib.layers.apply_regularization`, said by what it does: a sum of terms, which a collection of the graph gets.

As TensorFlow 1.15 has it in contrib/layers/python/layers/regularizers.py.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.function.translate import bind
from migrator.normalise.desugaring import Desugaring
from migrator.normalise.draft.draft import Change, Drafts
from migrator.resolve.module import Module
from migrator.rewrite import Insert, Replace, expr, statements

from ..symbols.tensorflow_names import whole_name

if TYPE_CHECKING:
    import libcst as cst

_NAMES = frozenset(f"tensorflow.contrib.{package}.apply_regularization" for package in ("layers", "slim"))


@Desugaring
def expand(drafts: Drafts, module: Module, call: ast.Call) -> list[Change]:
    """The edits that write the sum and the collection instead of the call; none for other calls. Raises Unsupported.

    ```python
    import tensorflow as tf


    def penalty(w, v):
        return tf.contrib.layers.apply_regularization(tf.contrib.layers.l2_regularizer(0.1), [w, v])
    ```
    becomes
    ```python
    import tensorflow as tf


    def penalty(w, v):
        penalty = tf.add_n([tf.contrib.layers.l2_regularizer(0.1)(w), tf.contrib.layers.l2_regularizer(0.1)(v)])
        tf.add_to_collection(tf.GraphKeys.REGULARIZATION_LOSSES, penalty)
        return penalty
    ```
    """
    name = module.resolve(call.func)
    if name not in _NAMES:
        return []
    tf, statement = whole_name(module), module.statement(call)
    try:
        given = bind(call, "regularizer weights_list", name.replace("tensorflow", "tf", 1))
    except Unsupported as problem:
        raise Unsupported(problem.reason, call) from problem
    regularizer, weights = given.get("regularizer"), given.get("weights_list")
    if (
        tf is None
        or module.indent(statement) is None
        or not isinstance(regularizer, (ast.Name, ast.Attribute, ast.Call))
    ):
        raise Unsupported("this use of apply_regularization is not followed", call)
    if weights is None or isinstance(weights, ast.Constant):
        raise Unsupported("apply_regularization of a collection of weights is not followed", call)
    penalty = _sum(module, tf, regularizer, weights)
    collect = "{tf}.add_to_collection({tf}.GraphKeys.REGULARIZATION_LOSSES, {penalty})"
    if isinstance(statement, ast.Expr) and statement.value is call:
        return Change.of(module, Replace(call, expr(collect, tf=tf, penalty=penalty)))
    kept = statement.targets[0] if isinstance(statement, ast.Assign) and statement.value is call else None
    if isinstance(kept, ast.Name):
        after = Insert(statements(collect, tf=tf, penalty=kept.id), after=statement)
        return Change.of(module, Replace(call, penalty), after)
    if module.nearest(call, (ast.Lambda, ast.ListComp, ast.GeneratorExp)) is not None:
        raise Unsupported("this use of apply_regularization is not followed", call)
    term = module.unused_name("penalty", statement)
    lines = [*statements("{term} = {sum}", term=term, sum=penalty), *statements(collect, tf=tf, penalty=term)]
    return Change.of(module, Insert(lines, before=statement), Replace(call, expr(term)))


def _sum(module: Module, tf: str, regularizer: ast.expr, weights: ast.expr) -> cst.BaseExpression:
    """What the regularizer asks for, of all weights together."""
    asked = module.cst.expression(regularizer)
    if isinstance(weights, (ast.List, ast.Tuple)) and weights.elts:
        terms = [
            expr("{asked}({weight})", asked=asked, weight=module.cst.expression(weight)) for weight in weights.elts
        ]
        return terms[0] if len(terms) == 1 else expr("{tf}.add_n([{terms}])", tf=tf, terms=terms)
    every = module.cst.expression(weights)
    return expr("{tf}.add_n([{asked}(weight) for weight in {every}])", tf=tf, asked=asked, every=every)

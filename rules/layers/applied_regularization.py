"""`tf.contrib.layers.apply_regularization`, said by what it does: a sum of terms, which a collection of the graph gets.

As TensorFlow 1.15 has it in contrib/layers/python/layers/regularizers.py.
"""

from __future__ import annotations

import ast

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.function.translate import bind
from migrator.normalise.draft.draft import Change
from migrator.normalise.draft.stuck import Stuck
from migrator.resolve.module import Module

from ..symbols.tensorflow_names import whole_name

_NAMES = frozenset(f"tensorflow.contrib.{package}.apply_regularization" for package in ("layers", "slim"))


def spelled_out(module: Module, call: ast.Call) -> list[Change]:
    """The edits that write the sum and the collection instead of the call; none for other calls. Raises Stuck."""
    name = module.resolve(call.func)
    if name not in _NAMES:
        return []
    tf, statement = whole_name(module), module.statement(call)
    try:
        given = bind(call, "regularizer weights_list", name.replace("tensorflow", "tf", 1))
    except Unsupported as problem:
        raise Stuck(problem.reason, call) from problem
    regularizer, weights = given.get("regularizer"), given.get("weights_list")
    indent = module.indent(statement)
    if tf is None or indent is None or not isinstance(regularizer, (ast.Name, ast.Attribute, ast.Call)):
        raise Stuck("this use of apply_regularization is not followed", call)
    if weights is None or isinstance(weights, ast.Constant):
        raise Stuck("apply_regularization of a collection of weights is not followed", call)
    penalty = _sum(module, tf, regularizer, weights)
    collection = f"{tf}.GraphKeys.REGULARIZATION_LOSSES"
    if isinstance(statement, ast.Expr) and statement.value is call:
        return [Change(module.edit(call, f"{tf}.add_to_collection({collection}, {penalty})"))]
    kept = statement.targets[0] if isinstance(statement, ast.Assign) and statement.value is call else None
    if isinstance(kept, ast.Name):
        after = module.insert(module.span(statement)[1], f"\n{indent}{tf}.add_to_collection({collection}, {kept.id})")
        return [Change(module.edit(call, penalty)), Change(after)]
    if module.nearest(call, (ast.Lambda, ast.ListComp, ast.GeneratorExp)) is not None:
        raise Stuck("this use of apply_regularization is not followed", call)
    term = module.unused_name("penalty", statement)
    lines = f"{term} = {penalty}\n{indent}{tf}.add_to_collection({collection}, {term})\n{indent}"
    return [Change(module.insert(module.span(statement)[0], lines)), Change(module.edit(call, term))]


def _sum(module: Module, tf: str, regularizer: ast.expr, weights: ast.expr) -> str:
    """What the regularizer asks for, of all weights together."""
    asked = module.segment(regularizer)
    if isinstance(weights, (ast.List, ast.Tuple)) and weights.elts:
        terms = [f"{asked}({module.segment(weight)})" for weight in weights.elts]
        return terms[0] if len(terms) == 1 else f"{tf}.add_n([{', '.join(terms)}])"
    return f"{tf}.add_n([{asked}(weight) for weight in {module.segment(weights)}])"

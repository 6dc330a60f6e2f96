"""Variables in double precision: Keras casts what a layer or model is given to single precision, unless it is told not to."""

from __future__ import annotations

import ast

from migrator.analyse.function.body import Body
from migrator.resolve.module import Module
from migrator.resolve.syntax import walk

DOUBLE = frozenset({"tensorflow.float64", "tensorflow.double", "numpy.float64", "numpy.double"})
_NAMES = ("float64", "double")
_MAKES = frozenset({"tensorflow.get_variable"})
_POSITION = 2
"""Of `dtype` among the arguments of `tf.get_variable`."""


def has_double_variables(body: Body) -> bool:
    """Whether a function, or a helper of its program that becomes a layer, makes variables in double precision."""
    parts = [part.definition for part in body.sublayers.found.values()]
    functions = [(body.module, body.function), *((part.module, part.node) for part in parts)]
    return any(_is_double(module, node) for module, function in functions for node in walk(function))


def _is_double(module: Module, node: ast.AST) -> bool:
    if not isinstance(node, ast.Call) or module.resolve(node.func) not in _MAKES:
        return False
    given = {k.arg: k.value for k in node.keywords}
    kind = given.get("dtype", node.args[_POSITION] if len(node.args) > _POSITION else None)
    if isinstance(kind, ast.Constant):
        return kind.value in _NAMES
    return kind is not None and module.resolve(kind) in DOUBLE

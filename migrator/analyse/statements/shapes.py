"""Conditions on the static shapes of tensors, such as ``x.shape[-1] != filters``, or on which tensors there are: known when a
model is called first."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from migrator.analyse.function.translate import is_none
from migrator.analyse.statements.bindingtime import Time
from migrator.analyse.statements.times import TENSOR_SHAPE
from migrator.resolve.syntax import children, statements, walk

if TYPE_CHECKING:
    from migrator.analyse.function.body import Body

_PARTS = frozenset({"value", "ndims", "rank", "dims"})
_PLAIN = (
    ast.Constant, ast.Compare, ast.BoolOp, ast.UnaryOp, ast.BinOp, ast.Subscript, ast.Slice, ast.Tuple, ast.List,
    ast.operator, ast.cmpop, ast.boolop, ast.unaryop, ast.expr_context,
)  # fmt: skip


_COUNTING = frozenset({"enumerate", "range", "len", "zip", "list", "int"})
_BUILTINS = frozenset({"int", "len", "float", "min", "max", "abs", "round"})
_NUMBERS = (
    "math.",
    "numpy.sqrt",
    "numpy.prod",
    "numpy.log",
    "numpy.ceil",
    "numpy.floor",
    "numpy.minimum",
    "numpy.maximum",
)
"""What computes numbers of sizes: ``np.sqrt(6.0 / (fan_in + fan_out))``."""
_SHAPE_FUNCTIONS = frozenset({"tensorflow.shape", "tensorflow.convert_to_tensor"})


def on_shapes(plan: Body, node: ast.stmt) -> bool:
    """Whether a condition asks nothing of tensors but their static shapes."""
    return isinstance(node, ast.If) and plan.times.of(node.test) > Time.MODE and _is_static(plan, node.test, ())


def asks_shapes(plan: Body, node: ast.expr) -> bool:
    """Whether an argument is known when the model is built, or asks nothing of tensors but their static shapes."""
    return plan.times.of(node) <= Time.MODE or _is_static(plan, node, ())


def _asks_presence(plan: Body, node: ast.AST) -> bool:
    """Whether an expression asks only whether a tensor is given: ``mask is not None``."""
    return (
        isinstance(node, ast.Compare)
        and isinstance(node.left, ast.Name)
        and node.left.id in plan.dynamic
        and not plan.is_local(node.left.id)
        and all(isinstance(op, (ast.Is, ast.IsNot)) for op in node.ops)
        and all(is_none(other) for other in node.comparators)
    )


def _is_static(plan: Body, node: ast.AST, above: tuple[str, ...]) -> bool:
    if _asks_presence(plan, node):
        return True
    if isinstance(node, ast.Name):
        if plan.times.name(node.id) <= Time.MODE:
            return True
        values = [leaf.node.value for leaf in plan.definitions(node.id) if isinstance(leaf.node, ast.Assign)]
        complete = bool(values) and len(values) == len(plan.definitions(node.id)) and node.id not in above
        return complete and all(_is_static(plan, value, (*above, node.id)) for value in values)
    if isinstance(node, ast.Attribute):
        return node.attr in TENSOR_SHAPE or (node.attr in _PARTS and _is_static(plan, node.value, above))
    if isinstance(node, ast.Call):
        if _lists_shape(plan, node):
            return True
        if isinstance(node.func, ast.Name) or (plan.module.resolve(node.func) or "").startswith(_NUMBERS):
            known = not isinstance(node.func, ast.Name) or node.func.id in _BUILTINS and not plan.is_local(node.func.id)
            return known and not node.keywords and all(_is_static(plan, argument, above) for argument in node.args)
        if not isinstance(node.func, ast.Attribute) or node.args or node.keywords or plan.module.resolve(node.func):
            return False
        return node.func.attr == "get_shape" or (
            node.func.attr == "as_list" and _is_static(plan, node.func.value, above)
        )
    return isinstance(node, _PLAIN) and all(_is_static(plan, child, above) for child in children(node))


def _lists_shape(plan: Body, call: ast.Call) -> bool:
    """Whether a function of the program lists the sizes of a tensor, the static ones where they are known: BERT's
    ``get_shape_list(tensor)``."""
    definition = plan.sublayers.project.definition(plan.module, call.func)
    if definition is None or not isinstance(definition.node, ast.FunctionDef) or not call.args:
        return False
    function, module = definition.node, definition.module
    given = function.args.args[:1]
    silent = [s for s in statements(function) if isinstance(s, ast.Raise) or _is_check(s)]
    aside = {node for statement in silent for node in walk(statement)}
    asked = False
    for node in walk(function):
        if not isinstance(node, ast.Call) or node in aside:
            continue
        if isinstance(node.func, ast.Attribute) and node.func.attr == "as_list":
            asked = asked or bool(given) and any(isinstance(n, ast.Name) and n.id == given[0].arg for n in walk(node))
        elif isinstance(node.func, ast.Attribute) and node.func.attr in ("get_shape", "append"):
            continue
        elif not (isinstance(node.func, ast.Name) and node.func.id in _COUNTING):
            if module.resolve(node.func) not in _SHAPE_FUNCTIONS:
                return False
    return asked


def _is_check(statement: ast.stmt) -> bool:
    """Whether a statement only calls a function, for what that refuses."""
    call = statement.value if isinstance(statement, ast.Expr) else None
    return isinstance(call, ast.Call) and isinstance(call.func, ast.Name)

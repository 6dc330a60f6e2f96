"""Dimensions of static shapes: objects with a `value` in TensorFlow 1, plain integers or None in TensorFlow 2."""

from __future__ import annotations

import ast

from migrator.engine.fixes import printed_fixes
from migrator.resolve.module import Module
from migrator.rewrite import Replace, expr
from migrator.vocabulary.diagnostics import Fix

_LAYERS = ("tensorflow.keras.", "tensorflow.layers.", "tensorflow.nn.rnn_cell.", "tensorflow.contrib.rnn.")
_SAME = frozenset({"merge_with", "with_rank", "with_rank_at_least", "with_rank_at_most"})


def dimension_fixes(module: Module) -> list[Fix]:
    """``x.shape[1].value`` becomes ``x.shape[1]``; only for programs that move as a whole, as TF1 needs the value."""
    if b".value" not in module.source:
        return []
    values = [
        node
        for node in module.nodes(ast.Attribute)
        if node.attr == "value" and isinstance(node.ctx, ast.Load) and _is_dimension(module, node.value)
    ]
    changes = (Replace(node, module.cst.expression(node.value)) for node in values)
    return printed_fixes(module, "read the dimension itself", changes)


def size_fixes(module: Module) -> list[Fix]:
    """``x.get_shape().as_list()[1]`` becomes ``x.shape[1]``, which weights of Keras 3 have as well; not for graphs of TF1."""
    if b".as_list" not in module.source:
        return []
    found = []
    for listed in module.nodes(ast.Call):
        shape = _called(listed, "as_list")
        part = module.parent(listed)
        held = _called(shape, "get_shape") if shape is not None else None
        if (
            held is not None
            and isinstance(part, ast.Subscript)
            and isinstance(part.ctx, ast.Load)
            and _is_index(part.slice)
        ):
            found.append((listed, held))
    changes = (Replace(listed, expr("{x}.shape", x=module.cst.expression(x))) for listed, x in found)
    return printed_fixes(module, "read the size itself", changes)


def _called(node: ast.AST, method: str) -> ast.expr | None:
    """What a method is called on, without arguments; None for other nodes."""
    if not isinstance(node, ast.Call) or node.args or node.keywords or not isinstance(node.func, ast.Attribute):
        return None
    return node.func.value if node.func.attr == method else None


def _is_index(node: ast.expr) -> bool:
    inner = node.operand if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) else node
    return isinstance(inner, ast.Constant) and isinstance(inner.value, int)


def _is_dimension(module: Module, node: ast.expr, depth: int = 8) -> bool:
    """Whether an expression can be nothing but one dimension of a static shape."""
    if isinstance(node, ast.Subscript):
        return not isinstance(node.slice, ast.Slice) and _is_shape(module, node.value, depth)
    if not isinstance(node, ast.Name) or not depth:
        return False
    bindings = [binding.node for binding in module.bindings(node)]
    return bool(bindings) and all(_bound_to_dimension(module, bound, depth - 1) for bound in bindings)


def _bound_to_dimension(module: Module, bound: ast.AST, depth: int) -> bool:
    parent = module.parent(bound)
    if isinstance(parent, (ast.For, ast.comprehension)) and parent.target is bound:
        return _is_shape(module, parent.iter, depth)
    if isinstance(parent, (ast.Tuple, ast.List)) and not any(isinstance(e, ast.Starred) for e in parent.elts):
        outer = module.parent(parent)
        return isinstance(outer, ast.Assign) and parent in outer.targets and _is_shape(module, outer.value, depth)
    return isinstance(parent, ast.Assign) and bound in parent.targets and _is_dimension(module, parent.value, depth)


def _is_shape(module: Module, node: ast.expr, depth: int) -> bool:
    """Whether an expression can be nothing but a static shape."""
    if isinstance(node, ast.Attribute):
        return node.attr == "shape" and module.resolve(node) is None
    if isinstance(node, ast.Subscript):
        return isinstance(node.slice, ast.Slice) and _is_shape(module, node.value, depth)
    if isinstance(node, ast.Call) and module.resolve(node.func) == "tensorflow.TensorShape":
        return True
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        if node.func.attr == "get_shape":
            return not node.args and not node.keywords
        return node.func.attr in _SAME and _is_shape(module, node.func.value, depth)
    if not isinstance(node, ast.Name) or not depth:
        return False
    parents = [(binding.node, module.parent(binding.node)) for binding in module.bindings(node)]
    return bool(parents) and all(
        _is_shape_of_build(module, bound)
        or (isinstance(parent, ast.Assign) and bound in parent.targets and _is_shape(module, parent.value, depth - 1))
        for bound, parent in parents
    )


def _is_shape_of_build(module: Module, bound: ast.AST) -> bool:
    """Whether a parameter is the shape that a layer is given: of ``def build(self, input_shape)``."""
    ancestors = list(module.ancestors(bound)) if isinstance(bound, ast.arg) else []
    function = next((a for a in ancestors if isinstance(a, (ast.FunctionDef, ast.Lambda))), None)
    if not isinstance(function, ast.FunctionDef) or function.name not in ("build", "compute_output_shape"):
        return False
    owner = module.parent(function)
    bases = owner.bases if isinstance(owner, ast.ClassDef) else []
    layer = any((module.resolve(base) or "").startswith(_LAYERS) for base in bases)
    return layer and function.args.args[1:2] == [bound]

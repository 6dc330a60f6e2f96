"""The batch size that a TPUEstimator tells its model_fn, read from the batch itself where only shapes are made of it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from migrator.normalise.draft.draft import Change
from migrator.resolve.module import Module
from migrator.resolve.symbols import Scope
from migrator.resolve.syntax import walk
from migrator.rewrite import Replace, expr

_SHAPED = frozenset(
    "tensorflow." + name
    for name in "reshape zeros ones fill tile broadcast_to slice random_uniform random_normal truncated_normal "
    "random.uniform random.normal random.truncated_normal".split()
)
"""Functions that take a list of sizes, each a number or a tensor of one."""
_WHOLE = (ast.Add, ast.Sub, ast.Mult, ast.FloorDiv)


def of_batches(module: Module, function: ast.FunctionDef, tensorflow: str) -> Iterator[Change]:
    """The changes of a model_fn: ``tf.shape(features["x"])[0]`` for ``params["batch_size"]``.

    None where the number itself may be asked for: a loop, a mean, another function.
    """
    scope = module.scope(function)
    found = [node for node in walk(function) if isinstance(node, ast.expr) and _is_size(module, node, scope)]
    reads = [node for node in found if module.parent(node) not in found]
    feature = _feature(module, function, scope)
    if feature is None or not all(_makes_shapes(module, read) for read in reads):
        return
    size = expr(f"{tensorflow}.shape({{feature}})[0]", feature=module.cst.expression(feature))
    yield from Change.of(module, *(Replace(read, size) for read in reads))


def _is_size(module: Module, node: ast.AST, scope: Scope) -> bool:
    """``params["batch_size"]`` or ``params.get("batch_size")``, of the parameters of the function itself; also with what a
    program takes where it has none: a TPUEstimator always has one."""
    if isinstance(node, ast.BoolOp):
        return isinstance(node.op, ast.Or) and _is_size(module, node.values[0], scope)
    if isinstance(node, ast.Call):
        got = isinstance(node.func, ast.Attribute) and node.func.attr == "get" and not node.keywords and bool(node.args)
        held, key = (node.func.value, node.args[0]) if got and isinstance(node.func, ast.Attribute) else (None, None)
    else:
        held, key = (node.value, node.slice) if isinstance(node, ast.Subscript) else (None, None)
    named = isinstance(held, ast.Name) and held.id == "params" and module.scope(held) is scope
    return named and isinstance(key, ast.Constant) and key.value == "batch_size"


def _feature(module: Module, function: ast.FunctionDef, scope: Scope) -> ast.Subscript | None:
    """An entry of the features, which the function reads wherever it goes."""
    first = function.args.args[0].arg if function.args.args else ""
    for statement in function.body:
        if isinstance(statement, (ast.Assign, ast.Expr, ast.Return)):
            for node in walk(statement):
                if not isinstance(node, ast.Subscript) or not isinstance(node.value, ast.Name):
                    continue
                if node.value.id == first and isinstance(node.slice, ast.Constant) and isinstance(node.ctx, ast.Load):
                    return node if len(scope.bindings[first]) == 1 and module.scope(node) is scope else None
    return None


def _makes_shapes(module: Module, read: ast.expr) -> bool:
    """Whether a read is a size among others, or gets a name that is nothing else."""
    statement = module.parent(read)
    if not isinstance(statement, ast.Assign):
        return _is_among_sizes(module, read)
    target = statement.targets[0]
    scope = module.scope(target)
    if not isinstance(target, ast.Name) or len(statement.targets) > 1 or len(scope.bindings[target.id]) != 1:
        return False
    return all(_is_among_sizes(module, load) for load in module.loads_of(target.id, scope))


def _is_among_sizes(module: Module, use: ast.expr) -> bool:
    outer = module.parent(use)
    while isinstance(outer, ast.BinOp) and isinstance(outer.op, _WHOLE):
        use, outer = outer, module.parent(outer)
    call = module.parent(outer) if isinstance(outer, (ast.List, ast.Tuple)) else None
    if isinstance(call, ast.keyword):
        call = module.parent(call)
    if isinstance(call, ast.Call):
        return module.resolve(call.func) in _SHAPED
    state = outer.func if isinstance(outer, ast.Call) and outer.args[:1] == [use] else None
    return isinstance(state, ast.Attribute) and state.attr == "zero_state"

"""Dropout under a condition: that of values in training, and of recurrent cells that are wrapped in a nested function.

    if mode == tf.estimator.ModeKeys.TRAIN:
        net = tf.nn.dropout(net, keep_prob=0.9)

is a layer that is applied in training, ``net = tf.contrib.layers.dropout(net, keep_prob=0.9, is_training=mode == …)``.

    def make_cell():
        cell = LSTMCell(units)
        if training:
            cell = DropoutWrapper(cell, output_keep_prob=0.9)
        return cell

A wrapper that keeps all drops nothing. So this is ``cell = DropoutWrapper(cell, output_keep_prob=0.9 if training else 1.0)``,
which says in one place what only matters in training.
"""

from __future__ import annotations

import ast

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.function.translate import bind
from migrator.analyse.statements.names import wrapped_again
from migrator.normalise.draft.draft import Change
from migrator.resolve.module import Module
from migrator.resolve.syntax import walk

from .rnn import keep_probabilities

_DROPOUT = "tensorflow.nn.dropout"
_TRAIN = frozenset({"tensorflow.estimator.ModeKeys.TRAIN", "tensorflow.contrib.learn.ModeKeys.TRAIN"})
_PARAMETERS = frozenset({"params", "hparams", "config", "flags", "args", "self"})
"""What functions call the parameters that hold numbers of the program, not data."""


def spelled_out(module: Module, call: ast.Call) -> list[Change]:
    """The edit that takes the condition into the dropout; none if `call` is no such thing."""
    if module.resolve(call.func) == _DROPOUT:
        return _of_values(module, call)
    return _of_cells(module, call)


def _of_values(module: Module, call: ast.Call) -> list[Change]:
    """A layer for ``if training: x = tf.nn.dropout(x, keep_prob)``."""
    statement, function = module.parent(call), module.segment(call.func)
    condition = module.parent(statement) if isinstance(statement, ast.Assign) else None
    if not isinstance(statement, ast.Assign) or not isinstance(condition, ast.If) or condition.orelse:
        return []
    if condition.body != [statement] or module.module_dialect == "v2" or not function.endswith(".nn.dropout"):
        return []
    try:
        given = bind(call, "x keep_prob noise_shape seed name rate", "tf.nn.dropout")
    except Unsupported:
        return []
    inputs = given.pop("x", call)
    if len(given) != 1 or [ast.unparse(t) for t in statement.targets] != [ast.unparse(inputs)]:
        return []
    ((how, share),) = given.items()
    if how not in ("keep_prob", "rate") or not isinstance(inputs, ast.Name) or not _is_number(module, share):
        return []
    if not _in_training(module, condition.test):
        return []
    layers = ".contrib.layers.dropout" if how == "keep_prob" else ".layers.dropout"
    phase = "is_training" if how == "keep_prob" else "training"
    text = (
        f"{inputs.id} = {function.removesuffix('.nn.dropout')}{layers}"
        f"({inputs.id}, {how}={module.segment(share)}, {phase}={module.segment(condition.test)})"
    )
    start, end = module.span(condition.test)[1], module.span(statement)[0]
    between = module.source[start:end].decode("utf-8", "surrogatepass").splitlines()
    column = module.span(condition)[0] - module.line_span(condition)[0]
    comments = [line.strip() for line in between[1:] if line.strip()]
    return [Change(module.edit(condition, f"\n{' ' * column}".join([*comments, text])))]


def _in_training(module: Module, test: ast.expr) -> bool:
    """Whether a condition is that of training, or a name for it."""
    if isinstance(test, ast.Name):
        bindings = module.bindings(test)
        found = module.statement(bindings[0].node) if len(bindings) == 1 else None
        if not isinstance(found, ast.Assign) or found.targets != [bindings[0].node]:
            return False
        test = found.value
    if not isinstance(test, ast.Compare) or len(test.ops) != 1 or not isinstance(test.ops[0], ast.Eq):
        return False
    return any(module.resolve(side) in _TRAIN for side in (test.left, test.comparators[0]))


def _is_number(module: Module, share: ast.expr, depth: int = 0) -> bool:
    """Whether a share is one of the program's numbers, which no data decide on."""
    for node in walk(share):
        if isinstance(node, ast.Call) and (module.resolve(node.func) or "").startswith("tensorflow."):
            return False
        if isinstance(node, ast.Name) and not _is_known(module, node, depth):
            return False
    return True


def _is_known(module: Module, name: ast.Name, depth: int) -> bool:
    holder = module.scope(name).lookup(name.id)
    if holder is None or not isinstance(holder.node, ast.FunctionDef):
        return True
    for binding in module.bindings(name):
        node = binding.node
        if isinstance(node, ast.arg):
            if node.arg not in _PARAMETERS:
                return False
            continue
        statement = module.statement(node)
        made = statement.value if isinstance(statement, ast.Assign) else getattr(statement, "iter", None)
        if made is None or depth > 3 or not _is_number(module, made, depth + 1):
            return False
    return True


def _of_cells(module: Module, call: ast.Call) -> list[Change]:
    """A condition in the probabilities of a wrapper."""
    keeps = keep_probabilities(call, module.resolve)
    statement = module.parent(call)
    condition = module.parent(statement) if isinstance(statement, ast.Assign) else None
    if not keeps or not isinstance(statement, ast.Assign) or not isinstance(condition, ast.If):
        return []
    if condition.body != [statement] or condition.orelse or wrapped_again(statement) is not call:
        return []
    functions = [node for node in module.ancestors(condition) if isinstance(node, ast.FunctionDef)]
    if len(functions) < 2 or not _is_from_outside(module, condition.test, functions[0]):
        return []
    test, start = module.segment(condition.test), module.span(statement)[0]
    text = module.source[start : module.span(statement)[1]]
    for keep in sorted(keeps, key=lambda node: module.span(node)[0], reverse=True):
        first, last = (at - start for at in module.span(keep))
        value = module.segment(keep)
        value = f"({value})" if isinstance(keep, (ast.IfExp, ast.Lambda)) else value
        text = text[:first] + f"{value} if {test} else 1.0".encode() + text[last:]
    return [Change(module.edit(condition, text.decode()))]


def _is_from_outside(module: Module, test: ast.expr, function: ast.FunctionDef) -> bool:
    """Whether a condition is a name that a function around `function` binds."""
    scope = module.scope(test).lookup(test.id) if isinstance(test, ast.Name) else None
    return scope is not None and isinstance(scope.node, ast.FunctionDef) and scope.node is not function

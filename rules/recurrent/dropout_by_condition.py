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
from collections.abc import Collection
from typing import TYPE_CHECKING

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.function.translate import bind, is_none
from migrator.analyse.statements.names import wrapped_again
from migrator.normalise.desugaring import Desugaring
from migrator.normalise.draft.draft import Change, Drafts
from migrator.resolve.module import Module
from migrator.resolve.syntax import walk
from migrator.rewrite import Replace, Statement, expr, statements

from .rnn import keep_probabilities

if TYPE_CHECKING:
    import libcst as cst

_DROPOUT = "tensorflow.nn.dropout"
_TRAIN = "tensorflow.estimator.ModeKeys.TRAIN"
_FLAGS = frozenset({"is_training", "training", "is_train", "train"})
"""What functions call the parameter that says whether they are in training."""
_PARAMETERS = frozenset({"params", "hparams", "config", "flags", "args", "self"})
"""What functions call the parameters that hold numbers of the program, not data."""


@Desugaring
def expand(drafts: Drafts, module: Module, call: ast.Call) -> list[Change]:
    """The edit that takes the condition into the dropout; none if `call` is no such thing.

    ```python
    import tensorflow as tf


    def model_fn(features, labels, mode):
        net = features["x"]
        if mode == tf.estimator.ModeKeys.TRAIN:
            net = tf.nn.dropout(net, keep_prob=0.9)
        return net
    ```
    becomes
    ```python
    import tensorflow as tf


    def model_fn(features, labels, mode):
        net = features["x"]
        net = tf.contrib.layers.dropout(net, keep_prob=0.9, is_training=mode == tf.estimator.ModeKeys.TRAIN)
        return net
    ```
    """
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
    test = _needed(condition.test, [share])
    if not in_training(module, test):
        return []
    layers = ".contrib.layers.dropout" if how == "keep_prob" else ".layers.dropout"
    phase = "is_training" if how == "keep_prob" else "training"
    (made,) = statements(
        f"{{x}} = {{f}}({{x}}, {how}={{share}}, {phase}={{test}})",
        x=inputs.id,
        f=function.removesuffix(".nn.dropout") + layers,
        share=module.cst.expression(share),
        test=_written(module, condition.test, test),
    )
    return _instead(module, condition, made, module.cst.statement(statement))


def _instead(module: Module, condition: ast.If, new: Statement, inner: Statement) -> list[Change]:
    """A statement in the place of a condition and the one in it, with the comments of both."""
    lines = [*module.cst.statement(condition).leading_lines, *inner.leading_lines]
    return Change.of(module, Replace(condition, new.with_changes(leading_lines=lines)))


def in_training(module: Module, test: ast.expr) -> bool:
    """Whether a condition is that of training, or a name for it, maybe with another one on numbers: ``training and keep < 1``."""
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
        others = [value for value in test.values if not in_training(module, value)]
        return len(others) < len(test.values) and all(_is_number(module, value) for value in others)
    if isinstance(test, ast.Name):
        bindings = module.bindings(test)
        if len(bindings) == 1 and isinstance(bindings[0].node, ast.arg):
            return bindings[0].node.arg in _FLAGS and not _may_be_none(module, bindings[0].node)
        found = module.statement(bindings[0].node) if len(bindings) == 1 else None
        if not isinstance(found, ast.Assign) or found.targets != [bindings[0].node]:
            return False
        test = found.value
    if not isinstance(test, ast.Compare) or len(test.ops) != 1 or not isinstance(test.ops[0], ast.Eq):
        return False
    return any(module.resolve(side) == _TRAIN for side in (test.left, test.comparators[0]))


def _may_be_none(module: Module, parameter: ast.arg) -> bool:
    """Whether a parameter is None where a call says nothing of it: Keras would decide then."""
    arguments = module.parent(parameter)
    if not isinstance(arguments, ast.arguments):
        return True
    positional = [*arguments.posonlyargs, *arguments.args]
    defaults = dict(zip(reversed(positional), reversed(arguments.defaults)))
    defaults.update((a, d) for a, d in zip(arguments.kwonlyargs, arguments.kw_defaults) if d is not None)
    return is_none(defaults[parameter]) if parameter in defaults else False


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
    asked = _needed(condition.test, keeps)
    if len(functions) < 2 or not _is_from_outside(module, asked, functions[0]):
        return []
    file, test = module.cst, _written(module, condition.test, asked)
    now: dict[ast.AST, cst.BaseExpression] = {
        keep: expr("{keep} if {test} else 1.0", keep=file.expression(keep), test=test) for keep in keeps
    }
    return _instead(module, condition, file.statement(statement, now), file.statement(statement))


def _needed(test: ast.expr, shares: Collection[ast.expr]) -> ast.expr:
    """A condition without what asks whether anything is dropped: ``training`` of ``training and keep_prob < 1``."""
    if not isinstance(test, ast.BoolOp) or not isinstance(test.op, ast.And):
        return test
    every = {ast.dump(share) for share in shares}
    kept = [value for value in test.values if len(every) > 1 or not _asks_whether_less(value, every)]
    return kept[0] if len(kept) == 1 else ast.copy_location(ast.BoolOp(test.op, kept), test)


def _asks_whether_less(node: ast.expr, shares: Collection[str]) -> bool:
    """Whether a test is ``keep < 1`` or ``rate > 0``."""
    if not isinstance(node, ast.Compare) or len(node.ops) != 1 or ast.dump(node.left) not in shares:
        return False
    limit = {ast.Lt: 1, ast.Gt: 0}.get(type(node.ops[0]))
    last = node.comparators[0]
    return limit is not None and isinstance(last, ast.Constant) and last.value == limit


def _written(module: Module, whole: ast.expr, test: ast.expr) -> cst.BaseExpression:
    """The text of a condition, or of what is left of it."""
    if test is whole or not isinstance(test, ast.BoolOp):
        return module.cst.expression(test)
    left, *more = map(module.cst.expression, test.values)
    for value in more:
        left = expr("{left} and {value}", left=left, value=value)
    return left


def _is_from_outside(module: Module, test: ast.expr, function: ast.FunctionDef) -> bool:
    """Whether a condition is a name that a function around `function` binds, or all of several are made of such names."""
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
        return all(_is_from_outside(module, value, function) for value in test.values)
    names = [node for node in walk(test) if isinstance(node, ast.Name)]
    if not isinstance(test, (ast.Name, ast.Attribute, ast.Compare)) or not names:
        return False
    if any(isinstance(node, (ast.Call, ast.Subscript)) for node in walk(test)):
        return False
    scopes = [module.scope(node).lookup(node.id) for node in names]
    return all(s is not None and isinstance(s.node, ast.FunctionDef) and s.node is not function for s in scopes)

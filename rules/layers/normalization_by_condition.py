"""Batch normalization that is called twice, for training and for the rest, of which `tf.cond` takes one.

The mode of an Estimator is known when the graph is made, so TensorFlow prunes the other call, its updates included.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.function.translate import bind, is_none
from migrator.normalise.desugaring import Desugaring
from migrator.normalise.draft.draft import Change, Drafts
from migrator.resolve.module import Module
from migrator.rewrite import Remove, Replace, expr, with_arguments

_COND = "tensorflow.cond"
_FLAG = {"batch_norm": "is_training", "batch_normalization": "training"}
_SCOPE = {"batch_norm": "scope", "batch_normalization": "name"}
_LIBRARIES = ("tensorflow.contrib.layers.", "tensorflow.contrib.slim.", "tensorflow.layers.", "tf_slim.")


@dataclass(frozen=True)
class _Arm:
    """One of the two calls, and the statement that gives it a name."""

    call: ast.Call
    statement: ast.Assign | None
    function: str

    def keywords(self) -> dict[str | None, ast.expr]:
        """Its arguments by name."""
        return {keyword.arg: keyword.value for keyword in self.call.keywords}


@Desugaring
def expand(drafts: Drafts, module: Module, call: ast.Call) -> list[Change]:
    """The edits that make one call of the two; none if `call` is no such condition.

    ```python
    import tensorflow as tf


    def normalized(x, training):
        train = tf.contrib.layers.batch_norm(x, is_training=True, scope="bn")
        infer = tf.contrib.layers.batch_norm(x, is_training=False, reuse=True, scope="bn")
        return tf.cond(tf.cast(training, tf.bool), lambda: train, lambda: infer)
    ```
    becomes
    ```python
    import tensorflow as tf


    def normalized(x, training):
        return tf.contrib.layers.batch_norm(x, is_training=training, scope="bn")
    ```
    """
    if module.resolve(call.func) != _COND:
        return []
    try:
        given = bind(call, "pred true_fn false_fn strict name fn1 fn2", "tf.cond")
    except Unsupported:
        return []
    pred = given.get("pred")
    active = _arm(module, given.get("true_fn") or given.get("fn1"))
    still = _arm(module, given.get("false_fn") or given.get("fn2"))
    if pred is None or active is None or still is None or not _belong_together(active, still):
        return []
    flag = _FLAG[active.function]
    if isinstance(pred, ast.Call) and module.resolve(pred.func) == "tensorflow.cast" and pred.args:
        pred = pred.args[0]
    file, inner = module.cst, active.call
    given_now = {
        str(name): file.expression(pred if name == flag else value) for name, value in active.keywords().items()
    }
    given_now.pop("reuse", None)
    new = expr("{function}({inputs})", function=file.expression(inner.func), inputs=[*map(file.expression, inner.args)])
    made = [arm.statement for arm in (active, still) if arm.statement is not None]
    return Change.of(module, *map(Remove, made), Replace(call, with_arguments(new, add=given_now)))


def _arm(module: Module, node: ast.expr | None) -> _Arm | None:
    """The call that a function of a condition gives: ``lambda: batch_norm(…)``, or by the name that holds its result."""
    if not isinstance(node, ast.Lambda) or node.args.args:
        return None
    value, statement = node.body, None
    if isinstance(value, ast.Name):
        bindings = module.bindings(value)
        found = module.statement(bindings[0].node) if len(bindings) == 1 else None
        if not isinstance(found, ast.Assign) or found.targets != [bindings[0].node]:
            return None
        if sum(module.bindings(other) == bindings for other in module.loads(value.id)) != 1:
            return None
        value, statement = found.value, found
    name = (module.resolve(value.func) or "") if isinstance(value, ast.Call) else ""
    library, _, function = name.rpartition(".")
    if not isinstance(value, ast.Call) or function not in _FLAG or f"{library}." not in _LIBRARIES:
        return None
    return _Arm(value, statement, function)


def _belong_together(active: _Arm, still: _Arm) -> bool:
    """Whether the calls are one but for the phase, and share their variables."""
    one, other, flag = active.keywords(), still.keywords(), _FLAG[active.function]
    if None in one or None in other or (active.statement is None) != (still.statement is None):
        return False
    if active.statement is None and not is_none(one.get("updates_collections", ast.Constant(0))):
        return False  # updates that a condition holds are not those of a collection
    if (_literal(one.get(flag)), _literal(other.get(flag))) != (True, False):
        return False
    reuses = [_literal(arguments.get("reuse")) or False for arguments in (one, other)]
    if sorted(map(str, reuses)) != ["False", "True"] or is_none(one.get(_SCOPE[active.function])):
        return False
    return _said(active, flag) == _said(still, flag)


def _said(arm: _Arm, flag: str) -> tuple[list[str], dict[str, str]]:
    """The text of a call without the phase and the sharing."""
    rest = {str(name): ast.dump(value) for name, value in arm.keywords().items() if name not in (flag, "reuse")}
    return [ast.dump(value) for value in (arm.call.func, *arm.call.args)], rest


def _literal(node: ast.expr | None) -> object:
    return node.value if isinstance(node, ast.Constant) else node

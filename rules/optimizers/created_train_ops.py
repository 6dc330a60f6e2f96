"""`create_train_op` of slim and of `tf.contrib.training`, said by what it does: a step of the optimizer behind the update ops.

As TensorFlow 1.15 has it in contrib/training/python/training/training.py and contrib/slim/python/slim/learning.py. What it
checks of the loss is what an Estimator checks: that it is a number.
"""

from __future__ import annotations

import ast

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.function.translate import bind, is_none
from migrator.normalise.desugaring import Desugaring
from migrator.normalise.draft.draft import Change, Drafts
from migrator.normalise.draft.spelled import spelled
from migrator.resolve.calls import is_literal
from migrator.resolve.module import Module
from migrator.rewrite import Statement, code, expr, statements

from ..symbols.tensorflow_names import whole_name

_TAIL = "summarize_gradients gate_gradients aggregation_method colocate_gradients_with_ops"
_HEAD = "total_loss optimizer global_step update_ops variables_to_train"
_SLIM = f"{_HEAD} clip_gradient_norm {_TAIL} gradient_multipliers check_numerics"
_SIGNATURES = {
    "tensorflow.contrib.training.create_train_op": f"{_HEAD} transform_grads_fn {_TAIL} check_numerics",
    "tensorflow.contrib.slim.learning.create_train_op": _SLIM,
    "tf_slim.learning.create_train_op": _SLIM,
    "tf_slim.training.create_train_op": f"{_HEAD} transform_grads_fn {_TAIL} check_numerics",
}
_SAID = ("total_loss", "optimizer", "global_step", "variables_to_train", "clip_gradient_norm", "check_numerics")


@Desugaring
def expand(drafts: Drafts, module: Module, call: ast.Call) -> list[Change]:
    """The statements that do what the call does; none for other calls, and where more is asked of it than to take a step.

    ```python
    import tensorflow as tf


    def train(loss, optimizer):
        train_op = tf.contrib.slim.learning.create_train_op(loss, optimizer, clip_gradient_norm=4.0)
        return train_op
    ```
    becomes
    ```python
    import tensorflow as tf


    def train(loss, optimizer):
        gradients, variables = zip(*optimizer.compute_gradients(loss))
        gradients = [None if gradient is None else tf.clip_by_norm(gradient, 4.0) for gradient in gradients]
        with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
            train_op = optimizer.apply_gradients(zip(gradients, variables), global_step=tf.train.get_or_create_global_step())
        return train_op
    ```
    """
    signature = _SIGNATURES.get(module.resolve(call.func) or "")
    tf = whole_name(module)
    if signature is None or tf is None:
        return []
    try:
        given = bind(call, signature, "create_train_op")
    except Unsupported:
        return []
    for name, value in given.items():
        if name not in _SAID and not is_none(value) and not is_literal(value, False):
            return []
    loss, optimizer, step = given.get("total_loss"), given.get("optimizer"), given.get("global_step")
    if loss is None or not isinstance(optimizer, (ast.Name, ast.Attribute)) or step is not None and is_none(step):
        return []
    limit = given.get("clip_gradient_norm")
    if limit is not None and not (isinstance(limit, ast.Constant) and isinstance(limit.value, (int, float))):
        return []
    return spelled(module, call, "train_op", lambda name: _lines(module, call, tf, given, name))


def _lines(module: Module, call: ast.Call, tf: str, given: dict[str, ast.expr], name: str) -> list[Statement]:
    optimizer, loss = (module.cst.expression(given[part]) for part in ("optimizer", "total_loss"))
    counts = given.get("global_step")
    step = expr("{tf}.train.get_or_create_global_step()", tf=tf) if counts is None else module.cst.expression(counts)
    trained, limit = given.get("variables_to_train"), given.get("clip_gradient_norm")
    only = "" if trained is None or is_none(trained) else f", var_list={module.segment(trained)}"
    lines: list[Statement] = []
    if isinstance(limit, ast.Constant) and limit.value:
        names = {part: module.unused_name(part, call) for part in ("gradients", "variables")}
        taken = f"{{gradients}}, {{variables}} = zip(*{{optimizer}}.compute_gradients({{loss}}{only}))"
        lines += statements(taken, optimizer=optimizer, loss=loss, **names)
        clipped = "{gradients} = [None if gradient is None else {tf}.clip_by_norm(gradient, {limit}) for gradient in {gradients}]"
        lines += statements(clipped, tf=tf, limit=code(module.segment(limit)), gradients=names["gradients"])
        template = "{optimizer}.apply_gradients(zip({gradients}, {variables}), global_step={step})"
        update = expr(template, optimizer=optimizer, step=step, **names)
    else:
        template = f"{{optimizer}}.minimize({{loss}}, global_step={{step}}{only})"
        update = expr(template, optimizer=optimizer, loss=loss, step=step)
    held = "with {tf}.control_dependencies({tf}.get_collection({tf}.GraphKeys.UPDATE_OPS)):\n    {name} = {update}"
    return [*lines, *statements(held, tf=tf, name=name, update=update)]

"""`tf.cond` and conditional expressions of train ops written as an `if`, so that native follows what each branch runs."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.function.translate import bind
from migrator.analyse.training.conditionalsteps import TAKEN
from migrator.normalise.desugaring import Desugaring
from migrator.normalise.draft.draft import Change, Drafts
from migrator.normalise.draft.spelled import spelled
from migrator.resolve.module import Module
from migrator.resolve.project import Definition, Project
from migrator.resolve.syntax import walk
from migrator.rewrite import Statement, expr, statements

if TYPE_CHECKING:
    import libcst as cst

NAME, _MARK = TAKEN.rsplit(".", 1)
_SIGNATURE = "pred true_fn false_fn strict name fn1 fn2"
STEPS = frozenset({"minimize", "apply_gradients"})
_DEPTH = 4
"""How many calls of functions are followed."""


@Desugaring
def expand(drafts: Drafts, module: Module, call: ast.Call) -> list[Change]:
    """The `if` for a ``tf.cond`` or a conditional expression of which a branch takes a step of an optimizer; none for others.

    ```python
    import tensorflow as tf


    def train_op(loss, warm):
        slow = tf.train.GradientDescentOptimizer(0.01)
        fast = tf.train.GradientDescentOptimizer(0.1)
        return tf.cond(warm, lambda: fast.minimize(loss), lambda: slow.minimize(loss))
    ```
    becomes
    ```python
    import tensorflow as tf


    def train_op(loss, warm):
        slow = tf.train.GradientDescentOptimizer(0.01)
        fast = tf.train.GradientDescentOptimizer(0.1)
        if tf.cond.taken(warm):
            train_op = fast.minimize(loss)
        else:
            train_op = slow.minimize(loss)
        return train_op
    ```

    ```python
    import tensorflow as tf


    def train_op(loss, mode):
        adam = tf.train.AdamOptimizer(0.01)
        return adam.minimize(loss) if mode == tf.estimator.ModeKeys.TRAIN else None
    ```
    becomes
    ```python
    import tensorflow as tf


    def train_op(loss, mode):
        adam = tf.train.AdamOptimizer(0.01)
        if mode == tf.estimator.ModeKeys.TRAIN:
            train_op = adam.minimize(loss)
        else:
            train_op = None
        return train_op
    ```
    """
    if isinstance(module.parent(call), ast.IfExp) and trains(drafts.project, module, call):
        return branched(module, call)
    if module.resolve(call.func) != NAME:
        return []
    try:
        given = bind(call, _SIGNATURE, "tf.cond")
    except Unsupported:
        return []
    predicate = given.get("pred")
    branches = [given.get("true_fn", given.get("fn1")), given.get("false_fn", given.get("fn2"))]
    if predicate is None or not any(b is not None and trains(drafts.project, module, b) for b in branches):
        return []
    first, second = (_value(drafts.project, module, branch) for branch in branches)
    if first is None or second is None:
        return []
    test = expr(
        "{cond}.{mark}({predicate})",
        cond=module.cst.expression(call.func), mark=_MARK, predicate=module.cst.expression(predicate),
    )  # fmt: skip

    def make(name: str) -> list[Statement]:
        template = "if {test}:\n    {name} = {first}\nelse:\n    {name} = {second}"
        return statements(template, test=test, name=name, first=first, second=second)

    return spelled(module, call, "train_op", make)


def branched(module: Module, call: ast.Call) -> list[Change]:
    """An `if` with a statement for each way, where ``optimizer.minimize(loss) if training else None`` chooses; none elsewhere."""
    choice: ast.expr = call
    while isinstance(outer := module.parent(choice), ast.IfExp) and choice is not outer.test:
        choice = outer
    if not isinstance(choice, ast.IfExp):
        return []
    parts = {name: module.cst.expression(getattr(choice, name)) for name in ("test", "body", "orelse")}
    template = "if {test}:\n    {name} = {body}\nelse:\n    {name} = {orelse}"
    return spelled(module, choice, "train_op", lambda name: statements(template, name=name, **parts))


def trains(project: Project, module: Module, node: ast.AST, depth: int = 0) -> bool:
    """Whether a function, or what it calls, takes a step of an optimizer."""
    if isinstance(node, (ast.Name, ast.Attribute)):
        return _definition_trains(project, project.definition(module, node), depth)
    calls = [n for n in walk(node) if isinstance(n, ast.Call)]
    if any(isinstance(n.func, ast.Attribute) and n.func.attr in STEPS for n in calls):
        return True
    return any(_definition_trains(project, project.definition(module, n.func), depth) for n in calls)


def _definition_trains(project: Project, found: Definition | None, depth: int) -> bool:
    if found is None or not isinstance(found.node, ast.FunctionDef) or depth >= _DEPTH:
        return False
    return trains(project, found.module, found.node, depth + 1)


def _value(project: Project, module: Module, branch: ast.expr | None) -> cst.BaseExpression | None:
    """What a branch gives; None where it is no function that is seen."""
    if isinstance(branch, ast.Lambda):
        return module.cst.expression(branch.body)
    if isinstance(branch, (ast.Name, ast.Attribute)):
        known = project.definition(module, branch) is not None or module.resolve(branch) == "tensorflow.no_op"
        return expr("{function}()", function=module.cst.expression(branch)) if known else None
    return None

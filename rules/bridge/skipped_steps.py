"""Train ops that count the global step with some batches only, as those that accumulate gradients may.

An Estimator ends a training by that count; `fit` ends one by the number of its batches, which are more.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.function.translate import bind, is_none
from migrator.resolve.module import Module
from migrator.resolve.project import Project
from migrator.resolve.syntax import walk

_COND = "tensorflow.cond"
_SIGNATURE = "pred true_fn false_fn strict name fn1 fn2"
_STEPS = frozenset(
    f"tensorflow.train.{name}" for name in ("get_global_step", "get_or_create_global_step", "create_global_step")
)
_TRAINING = frozenset({"minimize", "apply_gradients"})
"""Methods of optimizers that count what they are given as `global_step`, their second argument."""
_LIMITS = ("steps", "max_steps")
_DEPTH = 4
"""How many calls of functions are followed."""


def skipped_steps(project: Project, modules: Sequence[Module]) -> tuple[Module, ast.Call] | None:
    """The first such train op, if the number of steps ends a training."""
    if not any(_is_limited(module, call) for module in project.modules.values() for call in module.nodes(ast.Call)):
        return None
    calls = ((module, call) for module in modules for call in module.nodes(ast.Call))
    return next((each for each in calls if _counts_in_one_branch(project, *each)), None)


def _is_limited(module: Module, call: ast.Call) -> bool:
    """Whether a call trains for a number of steps, or to one."""
    trains = isinstance(call.func, ast.Attribute) and call.func.attr == "train"
    if not trains and module.resolve(call.func) != "tensorflow.estimator.TrainSpec":
        return False
    given = [keyword.value for keyword in call.keywords if keyword.arg in (None, *_LIMITS)]
    given += call.args[2 if trains else 1 :]
    return any(not is_none(value) for value in given)


def _counts_in_one_branch(project: Project, module: Module, call: ast.Call) -> bool:
    """Whether a call is a condition on which the step counts."""
    if module.resolve(call.func) != _COND:
        return False
    try:
        given = bind(call, _SIGNATURE, "tf.cond")
    except Unsupported:
        return False
    branches = (given.get("true_fn", given.get("fn1")), given.get("false_fn", given.get("fn2")))
    first, second = (branch is not None and _counts(project, module, branch) for branch in branches)
    return first != second


def _counts(project: Project, module: Module, node: ast.AST, depth: int = 0) -> bool:
    """Whether a function counts the global step, itself or in what it calls, or gives the next one."""
    if isinstance(node, (ast.Name, ast.Attribute)):
        found = project.definition(module, node)
        if found is None or not isinstance(found.node, ast.FunctionDef) or depth >= _DEPTH:
            return False
        return _counts(project, found.module, found.node, depth + 1)
    if isinstance(node, ast.Lambda) and isinstance(node.body, ast.BinOp) and isinstance(node.body.op, ast.Add):
        return any(_is_step(module, side) for side in (node.body.left, node.body.right))
    calls = [inner for inner in walk(node) if isinstance(inner, ast.Call)]
    return any(_advances(module, call) or _counts(project, module, call.func, depth + 1) for call in calls)


def _advances(module: Module, call: ast.Call) -> bool:
    """Whether a call adds to the global step."""
    if module.resolve(call.func) == "tensorflow.assign_add":
        return bool(call.args) and _is_step(module, call.args[0])
    if not isinstance(call.func, ast.Attribute):
        return False
    if call.func.attr == "assign_add":
        return _is_step(module, call.func.value)
    if call.func.attr not in _TRAINING:
        return False
    given = next((keyword.value for keyword in call.keywords if keyword.arg == "global_step"), None)
    given = call.args[1] if given is None and len(call.args) > 1 else given
    return given is not None and not is_none(given)


def _is_step(module: Module, node: ast.expr) -> bool:
    """Whether an expression is the global step, or a name that is called so."""
    if isinstance(node, ast.Call):
        return module.resolve(node.func) in _STEPS
    statement = module.assignment(node) if isinstance(node, ast.Name) else None
    if statement is not None:
        return isinstance(statement.value, ast.Call) and module.resolve(statement.value.func) in _STEPS
    return isinstance(node, ast.Name) and node.id == "global_step"

"""`tf.cond` of train ops written as an `if`, so that native follows what each branch runs."""

from __future__ import annotations

import ast

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.function.translate import bind
from migrator.analyse.training.conditionalsteps import TAKEN
from migrator.normalise.draft.draft import Change
from migrator.normalise.draft.spelled import spelled
from migrator.resolve.module import Module
from migrator.resolve.project import Definition, Project
from migrator.resolve.syntax import walk

NAME, _MARK = TAKEN.rsplit(".", 1)
_SIGNATURE = "pred true_fn false_fn strict name fn1 fn2"
_TRAINING = frozenset({"minimize", "apply_gradients"})
_DEPTH = 4
"""How many calls of functions are followed."""


def spelled_out(project: Project, module: Module, call: ast.Call) -> list[Change]:
    """The `if` for a ``tf.cond`` of which a branch takes a step of an optimizer; none for other calls."""
    if module.resolve(call.func) != NAME:
        return []
    try:
        given = bind(call, _SIGNATURE, "tf.cond")
    except Unsupported:
        return []
    predicate = given.get("pred")
    branches = [given.get("true_fn", given.get("fn1")), given.get("false_fn", given.get("fn2"))]
    if predicate is None or not any(b is not None and _trains(project, module, b) for b in branches):
        return []
    values = [_value(project, module, branch) for branch in branches]
    if None in values:
        return []
    head = f"if {module.segment(call.func)}.{_MARK}({module.segment(predicate)}):"

    def lines(name: str, unit: str) -> list[str]:
        return [head, f"{unit}{name} = {values[0]}", "else:", f"{unit}{name} = {values[1]}"]

    return spelled(module, call, "train_op", lines)


def _trains(project: Project, module: Module, node: ast.AST, depth: int = 0) -> bool:
    """Whether a function, or what it calls, takes a step of an optimizer."""
    if isinstance(node, (ast.Name, ast.Attribute)):
        return _definition_trains(project, project.definition(module, node), depth)
    calls = [n for n in walk(node) if isinstance(n, ast.Call)]
    if any(isinstance(n.func, ast.Attribute) and n.func.attr in _TRAINING for n in calls):
        return True
    return any(_definition_trains(project, project.definition(module, n.func), depth) for n in calls)


def _definition_trains(project: Project, found: Definition | None, depth: int) -> bool:
    if found is None or not isinstance(found.node, ast.FunctionDef) or depth >= _DEPTH:
        return False
    return _trains(project, found.module, found.node, depth + 1)


def _value(project: Project, module: Module, branch: ast.expr | None) -> str | None:
    """The text of what a branch gives; None where it is no function that is seen."""
    if isinstance(branch, ast.Lambda):
        body = module.segment(branch.body)
        return body if "\n" not in body else f"({body})"
    if isinstance(branch, (ast.Name, ast.Attribute)):
        known = project.definition(module, branch) is not None or module.resolve(branch) == "tensorflow.no_op"
        return f"{module.segment(branch)}()" if known else None
    return None

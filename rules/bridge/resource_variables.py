"""Programs whose variables are resources in TensorFlow 1, too: `tensorflow.compat.v1` of TensorFlow 2.

What has been read of a resource stays as it is when the variable changes; what has been read of a reference changes along.
A graph tells both apart where it waits for an op that changes variables.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from migrator.resolve.module import Module
from migrator.resolve.project import Project
from migrator.resolve.syntax import walk
from migrator.rewrite import Replace, expr

from ..hooks.session_hooks import has_resources

if TYPE_CHECKING:
    from ..estimator_calls.file_edits import FileEdits

_DEPENDENCIES = "tensorflow.control_dependencies"
_COLLECTION = "tensorflow.get_collection"


def mark_resources(driver: FileEdits, model_fn: ast.expr | None) -> None:
    """Write ``with_resources(model_fn)`` where it matters for a graph that is kept."""
    module = driver.module
    if model_fn is None or not has_resources(module) or not _waits(driver.project):
        return
    helper = driver.need("with_resources", model_fn)
    driver.change(Replace(model_fn, expr("{helper}({it})", helper=helper, it=module.cst.expression(model_fn))))


def _waits(project: Project) -> bool:
    """Whether an op of the program waits for another one than the UPDATE_OPS."""
    for module in project.modules.values():
        for node, name in module.references():
            call = module.parent(node)
            if name == _DEPENDENCIES and isinstance(call, ast.Call) and call.func is node:
                if not all(_only_updates(module, argument) for argument in call.args):
                    return True
    return False


def _only_updates(module: Module, node: ast.expr) -> bool:
    """Whether an expression, or all that may have been given to its name, lists UPDATE_OPS or a collection like it."""
    if isinstance(node, ast.Name):
        given = [
            s.value for s in walk(module.tree) if isinstance(s, ast.Assign) and ast.unparse(s.targets[0]) == node.id
        ]
        return bool(given) and all(not isinstance(v, ast.Name) and _only_updates(module, v) for v in given)
    calls = [n for n in walk(node) if isinstance(n, ast.Call)]
    return bool(calls) and all(module.resolve(call.func) == _COLLECTION for call in calls)

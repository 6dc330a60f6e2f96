"""Hooks of predictions: whether a program has some, which a graph runs around its batches."""

from __future__ import annotations

import ast

from migrator.analyse.function.translate import is_empty
from migrator.resolve.project import Project


def predicts_with_hooks(project: Project) -> bool:
    """Whether ``estimator.predict(…)`` is given hooks, or an EstimatorSpec has `prediction_hooks`."""
    for module in project.modules.values():
        if b"hooks" in module.source and b"predict" in module.source:
            for call in module.nodes(ast.Call):
                given = {keyword.arg: keyword.value for keyword in call.keywords}
                if isinstance(call.func, ast.Attribute) and call.func.attr == "predict":
                    third = call.args[2] if len(call.args) > 2 else None
                    if not is_empty(given.get("hooks", third)):
                        return True
                if not is_empty(given.get("prediction_hooks")):
                    return True
    return False

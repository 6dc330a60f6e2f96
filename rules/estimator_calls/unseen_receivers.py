"""Exporters, and functions that receive what an exported model is fed, from files that migrate does not see.

They make or return classes of `tf.estimator`, which exports of a Keras model do not take, and would not be rewritten.
"""

from __future__ import annotations

import ast

from migrator.analyse.function.errors import Unsupported
from migrator.resolve.module import Module
from migrator.resolve.project import Project

from ..hooks.logged_names import assigned_value
from ..model_fns.model_fns import PARTIAL
from .exporters import EXPORTS

_ARGUMENT = "serving_input_receiver_fn"
_EVAL_SPEC = "tensorflow.estimator.EvalSpec"
_KINDS = ("FinalExporter", "LatestExporter", "BestExporter")
_EXPORTERS = {f"tensorflow.estimator.{name}": f"tf.estimator.{name}" for name in _KINDS}


def refuse_unseen_receivers(project: Project, module: Module) -> None:
    """Raise Unsupported where an exporter, or a method that exports, gets a function that is imported from elsewhere, or
    an EvalSpec gets such an exporter."""
    for call in module.nodes(ast.Call):
        assert isinstance(call, ast.Call)
        method = call.func.attr if isinstance(call.func, ast.Attribute) else ""
        name = module.resolve(call.func) or ""
        what = f"Estimator.{method}" if method in EXPORTS else _EXPORTERS.get(name)
        if what is not None:
            given = [keyword.value for keyword in call.keywords if keyword.arg == _ARGUMENT] or call.args[1:2]
            _refuse_unseen(project, module, given, f"`{_ARGUMENT}` of {what}")
        elif name == _EVAL_SPEC:
            given = [keyword.value for keyword in call.keywords if keyword.arg == "exporters"] or call.args[4:5]
            _refuse_unseen(project, module, given, "`exporters` of tf.estimator.EvalSpec")


def _refuse_unseen(project: Project, module: Module, given: list[ast.expr], what: str) -> None:
    """Raise Unsupported where one of the values, or of the lists of values, comes from a file that is not there."""
    for value in given:
        made = assigned_value(module, value)
        if isinstance(made, (ast.List, ast.Tuple)):
            _refuse_unseen(project, module, made.elts, what)
            continue
        name = _imported(module, value if made is None else made)
        if name is not None and project.module_named(name.rpartition(".")[0] or ".", module) is None:
            raise Unsupported(
                f"{what} comes from {name}, which is in none of the given files; give migrate all files of the program",
                value,
            )


def _imported(module: Module, value: ast.expr) -> str | None:
    """The qualified name of a function that is imported, or that makes the function; None for TensorFlow's."""
    if isinstance(value, ast.Call):
        partial = module.resolve(value.func) == PARTIAL and bool(value.args)
        return _imported(module, value.args[0] if partial else value.func)
    name = module.qualified(value) if isinstance(value, (ast.Name, ast.Attribute)) else None
    return None if name is None or "." not in name or name.startswith("tensorflow.") else name

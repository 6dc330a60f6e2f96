"""Messages of a program's own loggers, such as ``logger = logging.getLogger(__name__)``."""

from __future__ import annotations

import ast

from migrator.resolve.module import Module
from migrator.resolve.symbols import Binding

LOGGERS = ("logging.", "absl.logging.", "tensorflow.logging.")
"""What the names of functions that log begin with."""
_MAKERS = frozenset({"logging.getLogger", "tensorflow.get_logger", "absl.logging.get_absl_logger"})
_LEVELS = frozenset({"debug", "info", "warning", "warn", "error", "exception", "critical", "log"})


def called_function(module: Module, function: ast.expr) -> str | None:
    """The qualified name of a function; ``logging.info`` for the method of a logger that the module makes once."""
    if isinstance(function, ast.Attribute) and function.attr in _LEVELS and isinstance(function.value, ast.Name):
        bindings = module.bindings(function.value)
        if len(bindings) == 1 and _is_logger(module, bindings[0]):
            return f"logging.{function.attr}"
    return module.resolve(function)


def is_message(module: Module, call: ast.Call) -> bool:
    """Whether a call prints or logs what it is given."""
    if isinstance(call.func, ast.Name) and call.func.id == "print":
        return not module.bindings(call.func)
    return (called_function(module, call.func) or "").startswith(LOGGERS)


def _is_logger(module: Module, binding: Binding) -> bool:
    statement = module.parent(binding.node)
    value = statement.value if isinstance(statement, ast.Assign) else None
    return isinstance(value, ast.Call) and module.resolve(value.func) in _MAKERS

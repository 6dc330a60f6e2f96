"""Classes of a program derived from `LoggingTensorHook`: what they do only where `at_end` asks for it."""

from __future__ import annotations

import ast

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.function.translate import bind
from migrator.normalise.draft.arguments import defaults, parameters
from migrator.normalise.objects.methods import own_method
from migrator.resolve.module import Module
from migrator.resolve.syntax import walk

_AT_END = "_log_at_end"  # of LoggingTensorHook
_SIGNATURE = "tensors every_n_iter every_n_secs at_end formatter"


def logs_at_end(module: Module, definition: ast.ClassDef, made: ast.Call | None) -> frozenset[int]:
    """The nodes, by `id`, under ``if self._log_at_end:`` that never run, as neither the class nor `made` gives `at_end`.

    A session that values are read from at the end is not there any more. Raises Unsupported where it is asked for.
    """
    init = own_method(definition, "__init__")
    value = None
    if init is None:
        value = bind(made, _SIGNATURE, definition.name).get("at_end") if made is not None else None
    else:
        for call in (node for node in walk(init) if isinstance(node, ast.Call)):
            if isinstance(call.func, ast.Attribute) and call.func.attr == "__init__":
                value = next((keyword.value for keyword in call.keywords if keyword.arg == "at_end"), None)
                if len(call.args) > 3 or None in [keyword.arg for keyword in call.keywords]:
                    raise Unsupported("what a LoggingTensorHook is made with is not seen", call)
        if isinstance(value, ast.Name) and value.id in parameters(init) and made is not None:
            names = " ".join(parameters(init)[1:])
            value = bind(made, names, definition.name).get(value.id, defaults(init).get(value.id, value))
    if value is not None and not (isinstance(value, ast.Constant) and value.value is False):
        raise Unsupported("a LoggingTensorHook that logs at the end is not migrated yet", value)
    return frozenset(
        id(part)
        for node in walk(definition)
        if isinstance(node, ast.If) and isinstance(node.test, ast.Attribute) and node.test.attr == _AT_END
        for statement in node.body
        for part in walk(statement)
    )

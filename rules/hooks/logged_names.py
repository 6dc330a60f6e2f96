"""Names of the ops that a `LoggingTensorHook` logs, as far as the source shows them.

``{"loss": "loss"}``, ``["loss"]``, ``{x: x for x in NAMES}``, ``dict((x, x) for x in NAMES)``, and names of such values.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from typing import Optional

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.results.opnames import short_name
from migrator.resolve.module import Module
from migrator.resolve.project import Project

from .usual_values import usual_value

_NOT_SEEN = "the tensors that are logged are not seen"


def logged_names(project: Project, module: Module, node: ast.expr | None, call: ast.Call) -> dict[str, ast.expr]:
    """Names of the ops whose values are logged. Raises Unsupported where a value is none, or is not seen."""
    found: dict[str, ast.expr] = {}
    for _, name, part in _named(project, module, node, call):
        found[name] = part
    return found


def logged_pairs(project: Project, module: Module, node: ast.expr | None, call: ast.Call) -> dict[str, str]:
    """Names of the ops by what their values are called in the log. Raises Unsupported where one is not seen."""
    found: dict[str, str] = {}
    for tag, name, part in _named(project, module, node, call):
        if tag is None:
            raise Unsupported(_NOT_SEEN, part)
        found[tag] = name
    return found


def _named(
    project: Project, module: Module, node: ast.expr | None, call: ast.Call
) -> list[tuple[str | None, str, ast.expr]]:
    """What values are called in the log, and the names of their ops."""
    found = []
    if node is not None:
        node = usual_value(project, module, node) or node
    for tag, part, text in _logged(module, node) if node is not None else ():
        if text is None:
            raise Unsupported("a tensor that is logged is not given by its name", part)
        found.append((tag, short_name(text), part))
    if not found:
        raise Unsupported(_NOT_SEEN, node if node is not None else call)
    return found


def assigned_value(module: Module, node: ast.expr | None) -> ast.expr | None:
    """The expression behind a name that is assigned once."""
    if isinstance(node, ast.Name):
        statement = module.assignment(node)
        return statement.value if statement is not None else None
    return node


_Entry = tuple[Optional[str], ast.expr, Optional[str]]


def _logged(module: Module, node: ast.expr) -> Iterator[_Entry]:
    """What is logged: what it is called, where it stands, and its name, None for anything but a name."""
    value = assigned_value(module, node)
    if isinstance(node, ast.Name):
        yield from _added(module, node)
    if isinstance(value, ast.Dict) and all(value.keys):
        yield from ((_text(key, {}), part, _text(part, {})) for key, part in zip(value.keys, value.values) if key)
    elif isinstance(value, (ast.List, ast.Tuple)):
        yield from ((_text(part, {}), part, _text(part, {})) for part in value.elts)
    elif isinstance(value, (ast.ListComp, ast.DictComp)):
        yield from _repeated(module, value)
    elif isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == "dict":
        if module.bindings(value.func) or None in [keyword.arg for keyword in value.keywords]:
            raise Unsupported(_NOT_SEEN, value)
        yield from ((keyword.arg, keyword.value, _text(keyword.value, {})) for keyword in value.keywords)
        for argument in value.args:
            if not isinstance(argument, (ast.GeneratorExp, ast.ListComp)):
                raise Unsupported(_NOT_SEEN, argument)
            yield from _repeated(module, argument)
    else:
        raise Unsupported(_NOT_SEEN, node)


def _added(module: Module, name: ast.Name) -> Iterator[_Entry]:
    """What ``tensors["rate"] = "learning_rate"`` adds. Raises Unsupported for other changes of a value with a name."""
    scope = module.scope(name).lookup(name.id)
    for load in module.loads_of(name.id, scope):
        parent = module.parent(load)
        if isinstance(parent, ast.Attribute) and parent.attr not in ("keys", "values", "items"):
            raise Unsupported(_NOT_SEEN, parent)
        if isinstance(parent, ast.Subscript) and isinstance(parent.ctx, ast.Store):
            statement = module.statement(parent)
            if not isinstance(statement, ast.Assign) or statement.targets != [parent]:
                raise Unsupported(_NOT_SEEN, parent)
            yield _text(parent.slice, {}), statement.value, _text(statement.value, {})


def _repeated(module: Module, value: ast.ListComp | ast.DictComp | ast.GeneratorExp) -> Iterator[_Entry]:
    """What a comprehension over a list of names logs."""
    loop = value.generators[0]
    over = assigned_value(module, loop.iter)
    whole = len(value.generators) == 1 and not loop.ifs and isinstance(loop.target, ast.Name)
    if not whole or not isinstance(over, (ast.List, ast.Tuple)):
        raise Unsupported(_NOT_SEEN, value)
    tag, made = (value.key, value.value) if isinstance(value, ast.DictComp) else (value.elt, value.elt)
    if isinstance(made, ast.Tuple) and len(made.elts) == 2 and not isinstance(value, ast.DictComp):
        tag, made = made.elts  # of the pairs that `dict` takes
    assert isinstance(loop.target, ast.Name)
    for part in over.elts:
        known = {loop.target.id: _text(part, {})}
        yield _text(tag, known), part, _text(made, known)


def _text(node: ast.expr, known: Mapping[str, str | None]) -> str | None:
    """The text of a string, or of the variable of a loop."""
    if isinstance(node, ast.Name):
        return known.get(node.id)
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None

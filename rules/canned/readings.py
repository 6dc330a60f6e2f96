"""What a program reads of an evaluation's result and of predictions: the keys, or all of them."""

from __future__ import annotations

import ast
import re
import string
from collections.abc import Iterable

from migrator.resolve.module import Module

from ..loop.rows import listed, named, rows_of

_PERCENT = re.compile(r"%\((\w[\w/]*)\)")
Keys = frozenset[str]


def read_of_result(module: Module, call: ast.expr) -> Keys | None:
    """The entries of an evaluation's result that the program reads; None: all of them, or nobody can tell."""
    _, places = named(module, call)
    return all_of(_read(module, place) for place in places) if places else None


def read_of_predictions(module: Module, call: ast.Call) -> Keys | None:
    """The entries of the predictions of an example that the program reads; None as above."""
    parent = module.parent(call)
    if isinstance(parent, ast.Call) and isinstance(parent.func, ast.Name) and parent.func.id == "next":
        return read_of_result(module, parent)
    name, places = named(module, listed(module, call))
    found = []
    for place in places if name is not None else [call]:
        rows = rows_of(module, place)
        found.append(frozenset(rows.reads) if rows is not None else None)
    return all_of(found) if found else None


def all_of(found: Iterable[Keys | None]) -> Keys | None:
    """What several places read."""
    keys: set[str] = set()
    for each in found:
        if each is None:
            return None
        keys |= each
    return frozenset(keys)


def _read(module: Module, place: ast.expr) -> Keys | None:
    """What a place reads of a dict."""
    parent = module.parent(place)
    if isinstance(parent, ast.Subscript) and parent.value is place and isinstance(parent.ctx, ast.Load):
        key = parent.slice.value if isinstance(parent.slice, ast.Constant) else None
        return frozenset({key}) if isinstance(key, str) else None
    if (
        isinstance(parent, ast.Attribute)
        and parent.attr == "get"
        and isinstance(call := module.parent(parent), ast.Call)
    ):
        key = call.args[0].value if call.args and isinstance(call.args[0], ast.Constant) else None
        return frozenset({key}) if isinstance(key, str) else None
    if isinstance(parent, ast.keyword) and parent.arg is None:
        return _formatted(module.parent(parent))
    if isinstance(parent, ast.BinOp) and isinstance(parent.op, ast.Mod) and parent.right is place:
        text = parent.left.value if isinstance(parent.left, ast.Constant) else None
        return frozenset(_PERCENT.findall(text)) if isinstance(text, str) else None
    return None


def _formatted(call: ast.AST | None) -> Keys | None:
    """The fields of ``"…".format(**result)``."""
    function = call.func if isinstance(call, ast.Call) else None
    if (
        not isinstance(function, ast.Attribute)
        or function.attr != "format"
        or not isinstance(function.value, ast.Constant)
    ):
        return None
    text = function.value.value
    if not isinstance(text, str):
        return None
    given = {keyword.arg for keyword in call.keywords} if isinstance(call, ast.Call) else set()
    names = {re.split(r"[.\[]", name)[0] for _, name, _, _ in string.Formatter().parse(text) if name is not None}
    return frozenset(name for name in names if name and not name.isdigit() and name not in given)

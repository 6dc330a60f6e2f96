"""Placeholders of functions that say what a SavedModel is fed."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.function.translate import bind
from migrator.resolve.module import Module
from migrator.resolve.syntax import walk

_PLACEHOLDERS = frozenset({"tensorflow.placeholder", "tensorflow.placeholder_with_default"})
_DTYPES = {str: "string", bool: "bool", int: "int32", float: "float32"}
_STRING = "tensorflow.string"


@dataclass(frozen=True)
class Told:
    """What a placeholder says of what it is fed."""

    shape: ast.expr
    dtype: ast.expr | str
    """An expression, or the name of a type of TensorFlow."""
    has_default: bool = False
    """Whether it need not be fed."""

    def is_text(self, module: Module) -> bool:
        """Whether it is fed strings."""
        return self.dtype == "string" if isinstance(self.dtype, str) else module.resolve(self.dtype) == _STRING

    def parts(self) -> list[ast.expr]:
        """The expressions."""
        return [self.shape, *([] if isinstance(self.dtype, str) else [self.dtype])]


def arguments_of_call(call: ast.Call, signature: str) -> dict[str, ast.expr] | None:
    """The arguments of a call by parameter; None where they are not those."""
    try:
        return bind(call, signature, "a receiver")
    except Unsupported:
        return None


def told_by(module: Module, call: ast.Call) -> Told | None:
    """What a placeholder says, if a call makes one."""
    name = module.resolve(call.func)
    if name not in _PLACEHOLDERS:
        return None
    if not name.endswith("with_default"):
        given = arguments_of_call(call, "dtype shape name") or {}
        return Told(given["shape"], given["dtype"]) if given.keys() >= {"dtype", "shape"} else None
    given = arguments_of_call(call, "input shape name") or {}
    value = given.get("input")
    if isinstance(value, ast.Call) and module.resolve(value.func) == "tensorflow.constant":
        told = arguments_of_call(value, "value dtype shape name") or {}
        if "dtype" in told and "shape" in given:
            return Told(given["shape"], told["dtype"], has_default=True)
        value = told.get("value")
    while isinstance(value, (ast.List, ast.Tuple)) and value.elts:
        value = value.elts[0]
    dtype = _DTYPES.get(type(value.value)) if isinstance(value, ast.Constant) else None
    return Told(given["shape"], dtype, has_default=True) if dtype is not None and "shape" in given else None


def placeholders(module: Module, function: ast.AST) -> Iterator[ast.Call]:
    """The calls that make placeholders in a function."""
    for part in walk(function):
        if isinstance(part, ast.Call) and module.resolve(part.func) in _PLACEHOLDERS:
            yield part

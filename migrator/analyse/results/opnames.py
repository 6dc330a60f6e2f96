"""Names of ops: those that calls give them, and those by which hooks ask for them."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from migrator.resolve.module import Module

_VALUE = "value"
_LOSSES = "tensorflow.losses."
_NAMED_ALIKE = frozenset({"absolute_difference", "hinge_loss", "huber_loss", "log_loss", "mean_squared_error"})
_SCOPES = dict.fromkeys(("cosine_distance", "sigmoid_cross_entropy", "softmax_cross_entropy"), "{}_loss")
_SCOPES |= {"sparse_softmax_cross_entropy": "{}_loss"} | dict.fromkeys(_NAMED_ALIKE, "{}")
"""The scopes that losses open, in which they call their result `value`."""


def short_name(text: str) -> str:
    """The last part of the name of a tensor, which says what it is: ``loss`` for ``train/loss:0`` and ``loss/value:0``."""
    *_, above, last = ["", *text.partition(":")[0].split("/")]
    return above if above and last == _VALUE else last


def op_name(module: Module, call: ast.Call) -> str | None:
    """The short name of the op that a call makes: one that it is given, or that of a loss of the library."""
    given = {keyword.arg: keyword.value for keyword in call.keywords}
    name = module.resolve(call.func) or ""
    if name.startswith(_LOSSES):
        last = name[len(_LOSSES) :]
        if last not in _SCOPES or "reduction" in given:
            return None
        return _text(given["scope"]) if "scope" in given else _SCOPES[last].format(last)
    if "name" in given:
        return _text(given["name"])
    return _text(call.args[1]) if len(call.args) == 2 and name.endswith(".identity") else None


def _text(node: ast.expr) -> str | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None

"""What an Estimator's method is given as `input_fn`, as the call that makes the dataset."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass

from migrator.module import Module

from .datasets import Data, Function, Reader, Returns

Text = Callable[[ast.expr], str]
_OFFERED = frozenset({"mode", "params", "config", "input_context"})
"""Parameters that an Estimator gives to an input function that names them."""
_CLOSED = (ast.Name, ast.Attribute, ast.Call, ast.Subscript)


@dataclass(frozen=True)
class Input:
    """The input of a training, an evaluation or a prediction."""

    function: ast.expr
    data: Data

    def parts(self, module: Module) -> list[ast.expr]:
        """The expressions of which `written` takes the text."""
        node = self.function
        if isinstance(node, ast.Lambda):
            return [node.body]
        if isinstance(node, ast.Call) and module.resolve(node.func) == "functools.partial":
            return [*node.args, *(keyword.value for keyword in node.keywords)]
        return [node]

    def written(self, module: Module, text: Text) -> str:
        """The call that makes the dataset, as an operand; `text` writes expressions."""
        node = self.function
        if isinstance(node, ast.Lambda):
            return text(node.body) if isinstance(node.body, _CLOSED) else f"({text(node.body)})"
        if isinstance(node, ast.Call) and module.resolve(node.func) == "functools.partial":
            parts = [text(part) for part in node.args[1:]]
            parts += [f"{k.arg}={text(k.value)}" for k in node.keywords]
            return f"{text(node.args[0])}({', '.join(parts)})"
        return f"{text(node)}()" if isinstance(node, _CLOSED) else f"({text(node)})()"


def read_input(reader: Reader, module: Module, node: ast.expr) -> Input | str:
    """The input that an expression stands for, or why it is not understood."""
    function = reader.value(module, node)
    if not isinstance(function, (Function, Returns)):
        return "the input function is not seen"
    if isinstance(function, Function):
        left, args = function.parameters(), function.node.args
        optional = {arg.arg for arg in [*args.posonlyargs, *args.args][::-1][: len(args.defaults)]}
        optional |= {arg.arg for arg, value in zip(args.kwonlyargs, args.kw_defaults) if value is not None}
        if any(arg.arg in _OFFERED or arg.arg not in optional for arg in left):
            return "the input function has parameters that Estimators give"
    data = reader.result(function)
    return Input(node, data) if data is not None else "the input function is not seen to return a dataset"

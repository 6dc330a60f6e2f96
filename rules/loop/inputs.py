"""What an Estimator's method is given as `input_fn`, as the call that makes the dataset."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Protocol

from migrator.resolve.module import Module

from .data.datasets import Reader
from .data.kinds import Data, Function, Returns
from .flow.exclusive import is_choice


class Text(Protocol):
    """Writes an expression, with other texts in place of some names in it."""

    def __call__(self, node: ast.expr, instead: Mapping[ast.AST, str] = ...) -> str: ...


MODES = {"train": "train", "evaluate": "eval", "predict": "infer"}
_OFFERED = frozenset({"mode", "params", "config", "input_context"})
"""Parameters that an Estimator gives to an input function that names them."""
_CLOSED = (ast.Name, ast.Attribute, ast.Call, ast.Subscript)


@dataclass(frozen=True)
class Input:
    """The input of a training, an evaluation or a prediction."""

    function: ast.expr
    data: Data
    given: tuple[tuple[str, ast.expr], ...] = ()
    """What the Estimator gives to parameters of the function; what is not of the program is a string, or a variable to be."""
    takes_context: bool = False
    """Whether the function may be told by how many replicas its data are read."""

    @property
    def read_whole(self) -> Input | None:
        """The same data, read to their end: what a program reads without a limit has one. None where it is seen to have none."""
        if self.data.batch or self.data.ends is False:
            return None
        return replace(self, data=replace(self.data, ends=True))

    def parts(self, module: Module) -> list[ast.expr]:
        """The expressions of which `written` takes the text."""
        node = self.function
        if isinstance(node, ast.Lambda):
            return [node.body]
        if isinstance(node, ast.Call) and module.resolve(node.func) == "functools.partial":
            return [*node.args, *(keyword.value for keyword in node.keywords)]
        return [node]

    def written(self, module: Module, text: Text, context: str = "", tf: str = "tf") -> str:
        """The dataset, as an operand; `text` writes expressions, with others in place of some names, and `context` is what
        the function is given as input_context, if it takes one."""
        made = self._called(module, text, context)
        if self.data.batch and isinstance(self.function, ast.Lambda) and isinstance(self.function.body, ast.Tuple):
            made = made[1:-1]  # which has its own parentheses
        return f"{tf}.data.Dataset.from_tensors({made}).repeat()" if self.data.batch else made

    def _read(
        self, module: Module, function: ast.Lambda, values: Mapping[str, str], text: Text
    ) -> Iterator[tuple[ast.AST, str]]:
        """What stands for the parameters of a function in its body."""
        for load in _loads(module, function):
            outer = module.parent(load)
            entry = _entry(dict(self.given).get(load.id), outer.slice) if isinstance(outer, ast.Subscript) else None
            if outer is not None and entry is not None:
                yield outer, _text(entry, text)
            elif load.id in values:
                yield load, values[load.id]

    def _called(self, module: Module, text: Text, context: str) -> str:
        """What the function returns."""
        node, values = self.function, {name: _text(value, text) for name, value in self.given}
        values.update({"input_context": context} if self.takes_context and context else {})
        if isinstance(node, ast.Lambda):
            own = dict(self._read(module, node, values, text))
            return text(node.body, own) if isinstance(node.body, _CLOSED) else f"({text(node.body, own)})"
        more = [f"{name}={value}" for name, value in values.items()]
        if isinstance(node, ast.Call) and module.resolve(node.func) == "functools.partial":
            parts = [text(part) for part in node.args[1:]]
            parts += [f"{k.arg}={text(k.value)}" for k in node.keywords]
            return f"{text(node.args[0])}({', '.join([*parts, *more])})"
        return f"{text(node)}({', '.join(more)})" if isinstance(node, _CLOSED) else f"({text(node)})({', '.join(more)})"


def _entry(given: ast.expr | None, key: ast.expr) -> ast.expr | None:
    """The value of a key, where a dict is given that says it."""
    entries = zip(given.keys, given.values) if isinstance(given, ast.Dict) and isinstance(key, ast.Constant) else ()
    return next((v for k, v in entries if isinstance(k, ast.Constant) and k.value == getattr(key, "value", None)), None)


def _text(value: ast.expr, text: Text) -> str:
    if hasattr(value, "lineno"):
        return text(value)
    if isinstance(value, ast.Dict):
        entries = [f"{_text(k, text)}: " if k is not None else "**" for k in value.keys]
        return f"{{{', '.join(key + _text(v, text) for key, v in zip(entries, value.values))}}}"
    if isinstance(value, ast.IfExp):
        return f"{_text(value.body, text)} if {_text(value.test, text)} else {_text(value.orelse, text)}"
    return f'"{value.value!s}"' if isinstance(value, ast.Constant) else ast.unparse(value)


def given_parts(given: Iterable[tuple[str, ast.expr]]) -> Iterator[ast.expr]:
    """The expressions of what a function is given: those of the entries, where that is a dict of them."""
    for _, value in given:
        if isinstance(value, ast.Dict) and not hasattr(value, "lineno"):
            yield from given_parts(("", inner) for inner in value.values)
        elif isinstance(value, ast.IfExp) and is_choice(value):
            yield from given_parts(("", inner) for inner in (value.test, value.body, value.orelse))
        else:
            yield value


def _loads(module: Module, function: ast.Lambda) -> Iterator[ast.Name]:
    """The places of a function that read its parameters."""
    for arg in function.args.args:
        yield from module.loads_of_parameter(arg.arg, function)


def read_input(reader: Reader, module: Module, node: ast.expr, method: str, params: ast.expr | None) -> Input | str:
    """The input that an expression stands for, or why it is not understood; `params` are those that the Estimator gives to
    the function."""
    function = reader.value(module, node)
    if not isinstance(function, (Function, Returns)):
        return "the input function is not seen"
    given: dict[str, ast.expr] = {}
    takes_context = False
    if isinstance(function, Function):
        left, args = function.parameters(), function.node.args
        optional = {arg.arg for arg in [*args.posonlyargs, *args.args][::-1][: len(args.defaults)]}
        optional |= {arg.arg for arg, value in zip(args.kwonlyargs, args.kw_defaults) if value is not None}
        for arg in left:
            if arg.arg == "mode":
                given["mode"] = ast.Constant(MODES[method])
            elif arg.arg == "params" and params is not None:
                given["params"] = params
            elif arg.arg == "input_context" and arg.arg in optional:
                takes_context = method == "train"
            elif arg.arg in _OFFERED or arg.arg not in optional:
                return "the input function has parameters that are not given here"
        seen = {name: v for name, v in given.items() if hasattr(v, "lineno") or isinstance(v, ast.Constant)}
        known = tuple((name, reader.value(module, seen.get(name))) for name in given)
        function = replace(function, named=(*function.named, *known))
    data = reader.result(function)
    if data is None:
        return "the input function is not seen to return a dataset"
    return Input(node, data, tuple(given.items()), takes_context)

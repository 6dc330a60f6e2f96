"""Weights that a program reads by the names which an Estimator gave them: what a Keras model has in their places."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from migrator.analyse.variables.namepatterns import parts
from migrator.resolve.module import Module

NAMES, VALUE = "get_variable_names", "get_variable_value"
_LAYER = re.compile(r"dnn/hiddenlayer_(\d+)/(kernel|bias)$")
_COLUMN = re.compile(r"linear/linear_model/(.+)/weights$")


class Variables(Protocol):
    """The weights of a model."""

    @property
    def listed(self) -> bool:
        """Whether a method of it may give all weights by the names of an Estimator."""

    def value(self, module: Module, name: ast.expr, model: str, text: Callable[[ast.expr], str]) -> str:
        """The expression for the weight of a name; empty where only such a method knows it."""


@dataclass(frozen=True)
class OfModelFn:
    """The weights of a model that takes the place of a model_fn."""

    paths: tuple[tuple[str, str], ...]
    """Their names in TensorFlow 1, and where the model holds them: ``dense/kernel``, ``hidden.kernel``."""
    listed: bool = False

    def value(self, module: Module, name: ast.expr, model: str, text: Callable[[ast.expr], str]) -> str:
        """The expression for the weight of a name; empty where it is not known which one that is."""
        before, hole, _ = parts(name)
        if hole is not None:
            return ""
        if before == "global_step":
            return f"{model}.optimizer.iterations.numpy()"
        found = [path for known, path in self.paths if known == before]
        single = len(found) == 1 and "*" not in found[0] and "late_weights" not in found[0]
        return f"{model}.{found[0]}.numpy()" if single else ""


@dataclass(frozen=True)
class OfCanned:
    """The weights of a model that takes the place of a canned Estimator."""

    sums: bool
    """Whether it has a weighted sum of columns."""
    last: str
    """The attribute of the last one of its layers; empty where it has none."""
    listed: bool
    """Whether a method of it may give all weights by these names."""

    def value(self, module: Module, name: ast.expr, model: str, text: Callable[[ast.expr], str]) -> str:
        """The expression for the weight of a name; empty where only such a method knows it."""
        before, hole, after = parts(name)
        if hole is not None:
            if self.sums and (before, after) == ("linear/linear_model/", "/weights"):
                return f"{model}.get_layer({text(hole)}).get_weights()[0]"
            return ""
        if before == "global_step":
            return f"{model}.optimizer.iterations.numpy()"
        if before == ("linear/linear_model/bias_weights" if self.sums else "" if self.last else "baseline/bias"):
            return f"{model}.bias.numpy()"
        if self.sums and (column := _COLUMN.match(before)):
            return f'{model}.get_layer("{column.group(1)}").get_weights()[0]'
        if self.last and (layer := _LAYER.match(before)):
            return f"{model}.hidden_layers[{layer.group(1)}].{layer.group(2)}.numpy()"
        if self.last and before in ("dnn/logits/kernel", "dnn/logits/bias"):
            return f"{model}.{self.last}.{before.rpartition('/')[2]}.numpy()"
        return ""


def is_read(variables: Variables, module: Module, call: ast.Call, what: str) -> bool:
    """Whether it is understood what a call of the method of an Estimator reads."""
    if what == NAMES:
        return not call.args and not call.keywords and (variables.listed or _is_printed(module, call))
    name = named(call)
    return name is not None and bool(variables.listed or variables.value(module, name, "model", lambda node: "x"))


def named(call: ast.Call) -> ast.expr | None:
    """The name in ``get_variable_value(name)``."""
    if len(call.args) + len(call.keywords) != 1:
        return None
    value = call.args[0] if call.args else call.keywords[0].value
    told = call.args or call.keywords[0].arg == "name"
    return value if told and not isinstance(value, ast.Starred) else None


def _is_printed(module: Module, call: ast.Call) -> bool:
    """Whether names are only shown."""
    outer = module.parent(call)
    return isinstance(outer, ast.Call) and isinstance(outer.func, ast.Name) and outer.func.id == "print"

"""Keras models with inputs of their own: a graph of TensorFlow 1 inside of TensorFlow 2 cannot hold these."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.function.specs import SPEC
from migrator.resolve.module import Module
from migrator.resolve.syntax import walk

_KERAS = "tensorflow.keras."
_INPUTS = frozenset(f"{_KERAS}{name}" for name in ("Input", "layers.Input", "layers.InputLayer"))
_SEQUENTIAL = frozenset({f"{_KERAS}Sequential", f"{_KERAS}models.Sequential"})
_SHAPES = frozenset({"input_shape", "batch_input_shape", "input_dim"})


def refuse_symbolic_inputs(functions: Iterable[tuple[Module, ast.AST]]) -> None:
    """Raise Unsupported where a model_fn, or a function that it may call, makes a Keras model with an input."""
    for module, function in functions:
        made = [(node, module.resolve(node.func) or "") for node in walk(function) if isinstance(node, ast.Call)]
        sequential = any(name in _SEQUENTIAL for _, name in made)
        for node, name in made:
            shaped = sequential and name.startswith(f"{_KERAS}layers.") and any(k.arg in _SHAPES for k in node.keywords)
            if shaped or name in _INPUTS or name.startswith(f"{_KERAS}applications."):
                raise Unsupported("a Keras model with an input of its own does not go into a graph", node)


def functions_of_specs(modules: Iterable[Module]) -> Iterator[tuple[Module, ast.FunctionDef]]:
    """Functions that return an EstimatorSpec, and those of the names that these mention, and so on."""
    modules = list(modules)
    functions: dict[str, list[tuple[Module, ast.FunctionDef]]] = {}
    stack: list[tuple[Module, ast.FunctionDef]] = []
    for module in modules:
        for node in walk(module.tree):
            if isinstance(node, ast.FunctionDef):
                functions.setdefault(node.name, []).append((module, node))
        specs = [node for node, name in module.references() if name == SPEC or name.endswith(".TPUEstimatorSpec")]
        stack += [(module, a) for node in specs for a in module.ancestors(node) if isinstance(a, ast.FunctionDef)]
    seen: set[ast.FunctionDef] = set()
    while stack:
        module, function = stack.pop()
        if function in seen:
            continue
        seen.add(function)
        yield module, function
        for node in walk(function):
            name = node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
            stack += functions.get(name, [])

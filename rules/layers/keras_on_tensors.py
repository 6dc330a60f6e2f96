"""Keras models that are put on tensors of a graph, by `Input(tensor=…)`: their layers are applied to the tensors."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from migrator import rewrite
from migrator.normalise.desugaring import Desugaring
from migrator.normalise.draft.draft import Change, Drafts
from migrator.resolve.calls import bind
from migrator.resolve.module import Module
from migrator.resolve.project import Project
from migrator.resolve.syntax import place_of, walk
from migrator.rewrite import Remove, Replace, code

_KERAS = "tensorflow.keras."
_INPUTS = frozenset({f"{_KERAS}Input", f"{_KERAS}layers.Input"})
_MODELS = frozenset({f"{_KERAS}Model", f"{_KERAS}models.Model"})


class _StaysError(Exception):
    """The models are used in a way that is not followed."""


@Desugaring
def expand(drafts: Drafts, module: Module, function: ast.FunctionDef) -> list[Change]:
    """The changes for all such models of a module; none if it has none, or if they are more than their outputs.

    ```python
    import tensorflow as tf


    def network(x):
        inputs = tf.keras.layers.Input(tensor=x)
        outputs = tf.keras.layers.Dense(3)(inputs)
        model = tf.keras.Model(inputs, outputs)
        model.summary()
        return model.output
    ```
    becomes
    ```python
    import tensorflow as tf


    def network(x):
        inputs = x
        outputs = tf.keras.layers.Dense(3)(inputs)
        return outputs
    ```
    """
    calls = [(node, module.resolve(node.func)) for node in module.nodes(ast.Call)]
    made = [node for node, name in calls if name in _INPUTS]
    if not any(module.is_inside(node, function) for node in made):
        return []
    try:
        changes: list[rewrite.Change] = [Replace(node, module.cst.expression(_tensor(node))) for node in made]
        for node in (node for node, name in calls if name in _MODELS):
            changes += _model(drafts.project, module, node)
    except _StaysError:
        return []
    return Change.of(module, *changes)


def _tensor(made: ast.Call) -> ast.expr:
    """`x` of ``Input(tensor=x)``."""
    given = {keyword.arg: keyword.value for keyword in made.keywords}
    if made.args or not {"tensor"} <= set(given) <= {"tensor", "name"}:
        raise _StaysError
    return given["tensor"]


def _model(project: Project, module: Module, made: ast.Call) -> Iterator[rewrite.Change]:
    """The changes for a model of which only the outputs are read."""
    statement = module.parent(made)
    target = statement.targets[0] if isinstance(statement, ast.Assign) and len(statement.targets) == 1 else None
    given = bind(made, ("inputs", "outputs", "name"))
    outputs = given.get("outputs") if given is not None else None
    if not isinstance(target, ast.Name) or not isinstance(outputs, ast.Name) or len(module.bindings(target)) != 1:
        raise _StaysError
    for binding in module.bindings(outputs):
        if binding.node is None or place_of(binding.node) > place_of(made):
            raise _StaysError
    assert isinstance(statement, ast.Assign)
    yield Remove(statement)
    for load in module.loads_of(target.id, module.scope(target)):
        yield from _use(project, module, load, outputs.id)


def _use(project: Project, module: Module, node: ast.expr, outputs: str) -> Iterator[rewrite.Change]:
    """The changes where the value of an expression is a model; `outputs` stands in its place, or itself without one."""
    parent = module.parent(node)
    grown = module.parent(parent) if isinstance(parent, ast.Attribute) else None
    if isinstance(parent, ast.Attribute) and parent.attr == "output" and isinstance(parent.ctx, ast.Load):
        yield Replace(parent, code(outputs) if outputs else module.cst.expression(node))
    elif (
        isinstance(parent, ast.Attribute)
        and parent.attr == "summary"
        and grown is not None
        and isinstance(module.parent(grown), ast.Expr)
    ):
        yield Remove(module.statement(parent))
    elif isinstance(parent, ast.Return):
        yield Replace(node, code(outputs)) if outputs else Replace(node, module.cst.expression(node))
        for call in _calls(project, module, parent):
            yield from _use(project, module, call, "")
    elif isinstance(parent, ast.Assign) and not outputs and len(parent.targets) == 1:
        target = parent.targets[0]
        if not isinstance(target, ast.Name) or len(module.bindings(target)) != 1:
            raise _StaysError
        for load in module.loads_of(target.id, module.scope(target)):
            yield from _use(project, module, load, "")
    else:
        raise _StaysError


def _calls(project: Project, module: Module, returned: ast.Return) -> list[ast.Call]:
    """All calls of the function that returns a model."""
    function = module.nearest(returned, (ast.FunctionDef, ast.Lambda))
    if not isinstance(function, ast.FunctionDef) or module.parent(function) is not module.tree:
        raise _StaysError
    returns = [node for node in walk(function) if isinstance(node, ast.Return)]
    loads = module.loads(function.name)
    calls = [parent for parent in map(module.parent, loads) if isinstance(parent, ast.Call)]
    others = (other for other in project.modules.values() if other is not module)
    named = any(function.name.encode() in other.source for other in others)
    if len(returns) != 1 or not calls or len(calls) != len(loads) or named:
        raise _StaysError
    return calls

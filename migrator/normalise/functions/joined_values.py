"""Values that code makes at once, of which some depend on the labels of a model_fn and others do not."""

from __future__ import annotations

import ast

from migrator.analyse.statements.names import binds, reads
from migrator.normalise.desugaring import Desugaring
from migrator.normalise.draft.arguments import given, parameters
from migrator.normalise.draft.draft import Change, Drafts
from migrator.normalise.draft.returns import own_returns, own_statements
from migrator.resolve.module import Module
from migrator.resolve.project import Definition, Project
from migrator.rewrite import Replace, statements
from migrator.vocabulary.unsupported import Unsupported

LABELS = "labels"
"""What an Estimator calls the labels that it gives to a model_fn: it takes no other name."""


def joins_labels(project: Project, definition: Definition) -> bool:
    """Whether a function gets the labels of a model_fn and returns values beside each other that depend on them and that do not.

    A call of it needs the labels, also for what a prediction has without them: ``inputs, labels = prepare(features, labels)``.
    """
    function = definition.node
    assert isinstance(function, ast.FunctionDef)
    returns = own_returns(function)
    value = returns[0].value if len(returns) == 1 and returns[0] is function.body[-1] else None
    if not isinstance(value, ast.Tuple):
        return False
    for name in _labels(project, definition):
        found = [name in _behind(function, part) for part in value.elts]
        if any(found) and not all(found):
            return True
    return False


@Desugaring
def expand(drafts: Drafts, module: Module, function: ast.FunctionDef) -> list[Change]:
    """The changes for one statement that assigns several values, some of them made of the labels; none if there is no more.

    ```python
    import tensorflow as tf


    def model_fn(features, labels, mode):
        x, labels = features["x"], tf.squeeze(labels)
        return x, labels
    ```
    becomes
    ```python
    import tensorflow as tf


    def model_fn(features, labels, mode):
        x = features["x"]
        labels = tf.squeeze(labels)
        return x, labels
    ```
    """
    for statement in own_statements(function.body) if LABELS in parameters(function) else ():
        pairs = _pairs(statement)
        if len({LABELS in reads(value) for _, value in pairs}) > 1:
            parts = [(module.cst.expression(target), module.cst.expression(value)) for target, value in pairs]
            made = [
                each for target, value in parts for each in statements("{target} = {value}", target=target, value=value)
            ]
            return Change.of(module, Replace(statement, made))
    return []


def _pairs(statement: ast.stmt) -> list[tuple[ast.expr, ast.expr]]:
    """The names that a statement assigns to, with their values, if these can be given one after the other."""
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return []
    target, value = statement.targets[0], statement.value
    if not isinstance(target, ast.Tuple) or not isinstance(value, ast.Tuple) or len(target.elts) != len(value.elts):
        return []
    given: set[str] = set()
    for name, made in zip(target.elts, value.elts):
        if not isinstance(name, ast.Name) or isinstance(made, ast.Starred) or given & reads(made):
            return []
        given.add(name.id)
    return list(zip(target.elts, value.elts))


def _labels(project: Project, definition: Definition) -> set[str]:
    """The parameters of a function that get the labels of a model_fn."""
    found: set[str] = set()
    for module in project.modules.values():
        for use in project.uses(definition, module):
            call = module.parent(use)
            if not isinstance(call, ast.Call) or call.func is not use:
                continue
            try:
                arguments = given(definition.node, call)  # type: ignore[arg-type]
            except Unsupported:
                continue
            found |= {name for name, value in arguments.items() if isinstance(value, ast.Name) and value.id == LABELS}
    return found


def _behind(function: ast.FunctionDef, node: ast.expr) -> set[str]:
    """All names that a value of a function may depend on, whatever the order of its statements."""
    made: dict[str, set[str]] = {}
    for statement in own_statements(function.body):
        for name in binds(statement):
            made.setdefault(name, set()).update(reads(statement))
    found, waiting = set[str](), list(reads(node))
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += made.get(name, ())
    return found

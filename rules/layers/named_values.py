"""First values of variables, and texts for scopes, that have names of their own: they stand where the variable is made, or the
scope is entered, as the analysis looks for them there."""

from __future__ import annotations

import ast

from migrator.analyse.statements.names import binds, reads
from migrator.analyse.variables.namepatterns import literal_pattern
from migrator.analyse.variables.scopes import VARIABLE_SCOPE
from migrator.normalise.desugaring import Desugaring
from migrator.normalise.draft.draft import Change, Drafts
from migrator.resolve.module import Module
from migrator.resolve.reaching import block_of, read_once
from migrator.resolve.syntax import place_of, walk
from migrator.rewrite import Remove, Replace

from .graph_variables import VALUES, VARIABLE

_MADE = {VARIABLE: ("initial_value", 0), "tensorflow.get_variable": ("initializer", 3)}
"""What makes a variable, with the name and the place of its first value."""


@Desugaring
def expand(drafts: Drafts, module: Module, function: ast.FunctionDef) -> list[Change]:
    """The changes for one first value of a function; none if there is no more.

    ```python
    import tensorflow as tf


    def network(x, size):
        init = tf.random_normal([size, 1])
        w = tf.get_variable("w", initializer=init)
        return tf.matmul(x, w)
    ```
    becomes
    ```python
    import tensorflow as tf


    def network(x, size):
        w = tf.get_variable("w", initializer=tf.random_normal([size, 1]))
        return tf.matmul(x, w)
    ```
    """
    for call in walk(function):
        if isinstance(call, ast.Call) and module.resolve(call.func) == VARIABLE_SCOPE and call.args:
            scope = call.args[0]
            given = _given(module, function, scope) if isinstance(scope, ast.Name) else None
            if given is not None and literal_pattern(given.value) is not None:
                return Change.of(module, Remove(given), Replace(scope, module.cst.expression(given.value)))
        made = _MADE.get(module.resolve(call.func) or "") if isinstance(call, ast.Call) else None
        if made is None or not isinstance(call, ast.Call):
            continue
        name, place = made
        first = next((keyword.value for keyword in call.keywords if keyword.arg == name), None)
        first = call.args[place] if first is None and len(call.args) > place else first
        given = _given(module, function, first) if isinstance(first, ast.Name) else None
        if given is not None and first is not None and literal_pattern(given.value) is None:
            return Change.of(module, Remove(given), Replace(first, module.cst.expression(given.value)))
    return []


def _given(module: Module, function: ast.FunctionDef, load: ast.Name) -> ast.Assign | None:
    """The assignment of the value that one place alone reads; None where it is read elsewhere, or is no such value."""
    source = read_once(module, load)
    if (
        source is None
        or module.scope(load) is not module.scope(source.targets[0])
        or not _runs_with(module, source, load)
    ):
        return None
    value = source.value
    drawn = isinstance(value, ast.Call) and module.resolve(value.func) in VALUES
    if not drawn and (isinstance(value, ast.Name) or literal_pattern(value) is None):
        return None
    read = reads(value)
    for statement in walk(function):
        between = isinstance(statement, ast.stmt) and place_of(source) < place_of(statement) < place_of(load)
        if between and not module.is_inside(load, statement) and read & binds(statement):  # type: ignore[arg-type]
            return None
    return source


def _runs_with(module: Module, source: ast.stmt, load: ast.Name) -> bool:
    """Whether a place is reached just when a statement above it is: in a loop several variables would get one value."""
    statement: ast.AST | None = module.statement(load)
    while isinstance(statement, ast.stmt) and source not in block_of(module, statement):
        statement = module.parent(statement)
        if not isinstance(statement, ast.With):
            return False
    return True

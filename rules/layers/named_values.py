"""First values of variables that have names of their own: they stand where the variable is made, as the analysis looks for them
there."""

from __future__ import annotations

import ast

from migrator.analyse.statements.names import binds, reads
from migrator.normalise.desugaring import Desugaring
from migrator.normalise.draft.draft import Change, Drafts
from migrator.resolve.module import Module
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
        made = _MADE.get(module.resolve(call.func) or "") if isinstance(call, ast.Call) else None
        if made is None or not isinstance(call, ast.Call):
            continue
        name, place = made
        first = next((keyword.value for keyword in call.keywords if keyword.arg == name), None)
        first = call.args[place] if first is None and len(call.args) > place else first
        given = _given(module, function, first) if isinstance(first, ast.Name) else None
        if given is not None and first is not None:
            return Change.of(module, Remove(given), Replace(first, module.cst.expression(given.value)))
    return []


def _given(module: Module, function: ast.FunctionDef, load: ast.Name) -> ast.Assign | None:
    """The assignment of the value that one place alone reads; None where it is read elsewhere, or is no such value."""
    scope = module.scope(load)
    loads = module.loads_of(load.id, scope)
    places = [binding.node for binding in scope.bindings.get(load.id, [])]
    assigns = [_assignment(module, place) for place in places]
    if scope is not module.scope(function) or None in assigns:
        return None
    sources = [_before(module, [a for a in assigns if a is not None], each) for each in loads]
    source = next((found for each, found in zip(loads, sources) if each is load), None)
    if source is None or None in sources or sources.count(source) != 1:
        return None
    value = source.value
    if not isinstance(value, ast.Call) or module.resolve(value.func) not in VALUES:
        return None
    read = reads(value)
    for statement in walk(function):
        between = isinstance(statement, ast.stmt) and place_of(source) < place_of(statement) < place_of(load)
        if between and not module.is_inside(load, statement) and read & binds(statement):  # type: ignore[arg-type]
            return None
    return source


def _assignment(module: Module, place: ast.AST) -> ast.Assign | None:
    statement = module.parent(place)
    alone = isinstance(statement, ast.Assign) and statement.targets == [place]
    return statement if alone and isinstance(statement, ast.Assign) else None


def _before(module: Module, assigns: list[ast.Assign], load: ast.Name) -> ast.Assign | None:
    """The assignment that alone gives what a place reads: the last one above it, in its block or around its ``with``."""
    above = [each for each in assigns if place_of(each) < place_of(load)]
    last = max(above, key=place_of, default=None)
    if last is None or module.scope(load) is not module.scope(last.targets[0]):
        return None
    statement: ast.AST | None = module.statement(load)
    while isinstance(statement, ast.stmt) and _block(module, statement) != _block(module, last):
        statement = module.parent(statement)
        if not isinstance(statement, ast.With):
            return None
    return last


def _block(module: Module, statement: ast.stmt) -> tuple[ast.AST | None, str]:
    """What a statement is a part of, and of which of its arms."""
    parent = module.parent(statement)
    arms = ("body", "orelse", "finalbody")
    return parent, next((arm for arm in arms if statement in getattr(parent, arm, ())), "")

"""Learning rates and losses that functions of a table compute, written as an `if`, so that native follows each of them."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from migrator.normalise.desugaring import Desugaring
from migrator.normalise.draft.draft import Change, Drafts
from migrator.normalise.draft.spelled import spelled
from migrator.normalise.functions.possible_values import display
from migrator.resolve.module import Module
from migrator.resolve.project import Definition, Project
from migrator.resolve.syntax import is_name, walk
from migrator.rewrite import Remove, Replace, Statement, code, expr, statements, with_function

from ..optimizers.optimizer_tables import by_test
from .translations import is_refused, translations

if TYPE_CHECKING:
    import libcst as cst

_STEPS = frozenset(
    f"tensorflow.train.{name}" for name in ("get_global_step", "get_or_create_global_step", "create_global_step")
)
_LISTING = frozenset({"sorted", "list", "tuple", "set", "len"})


@Desugaring
def expand(drafts: Drafts, module: Module, call: ast.Call) -> list[Change]:
    """The statements for a call of an entry of such a table, which goes, or lists its keys; none for other calls.

    ```python
    import tensorflow as tf


    def constant(step, rate):
        return rate


    def halved(step, rate):
        return tf.train.exponential_decay(rate, step, 100, 0.5)


    def train_op(loss, name):
        rates = {"constant": constant, "halved": halved}
        step = tf.train.get_global_step()
        rate = rates[name](step, 0.1)
        return tf.train.GradientDescentOptimizer(rate).minimize(loss, step)
    ```
    becomes
    ```python
    import tensorflow as tf


    def constant(step, rate):
        return rate


    def halved(step, rate):
        return tf.train.exponential_decay(rate, step, 100, 0.5)


    def train_op(loss, name):
        step = tf.train.get_global_step()
        if name == "constant":
            rate = constant(step, 0.1)
        elif name == "halved":
            rate = halved(step, 0.1)
        else:
            raise KeyError(name)
        return tf.train.GradientDescentOptimizer(rate).minimize(loss, step)
    ```
    """
    project, place = drafts.project, call.func
    name, key, default = _asked(place)
    if name is None or key is None or any(isinstance(node, (ast.Call, ast.NamedExpr)) for node in walk(key)):
        return []
    found = display(project, module, name)
    if found is None or found[0] is not module:
        return []
    table = found[1]
    functions = [
        project.definition(module, value) for value in (*table.values, *([] if default is None else [default]))
    ]
    keys = [entry.value if isinstance(entry, ast.Constant) else None for entry in table.keys]
    if not all(isinstance(entry, str) for entry in keys) or len(set(keys)) < len(keys):
        return []
    if not functions or not all(_is_function(each) for each in functions):
        return []
    steps = any(_is_step(module, argument) for argument in call.args)
    if not (steps or any(_moves(each) for each in functions)) or any(_makes_layers(each) for each in functions):
        return []
    instead = _without(project, module, table, name)
    if instead is None:
        return []
    old, asked = module.cst.call(call), module.cst.expression(key)
    known = [
        (
            expr("{asked} == {key}", asked=asked, key=module.cst.expression(entry)),
            with_function(old, module.cst.expression(value)),
        )
        for entry, value in zip(table.keys, table.values)
        if entry is not None
    ]

    def make(target: str) -> list[Statement]:
        if default is None:
            last = statements("raise KeyError({asked})", asked=asked)
        else:
            other: cst.BaseExpression = with_function(old, module.cst.expression(default))
            last = statements("{target} = {other}", target=target, other=other)
        return by_test(target, known, last)

    changes = spelled(module, call, "rate" if steps else "value", make)
    return [*instead, *changes] if changes else []


def _asked(place: ast.expr) -> tuple[ast.Name | None, ast.expr | None, ast.expr | None]:
    """The table, the key and the default of ``RATES[name]`` or ``RATES.get(name, constant)``."""
    if isinstance(place, ast.Subscript) and isinstance(place.value, ast.Name):
        return place.value, place.slice, None
    if isinstance(place, ast.Call) and isinstance(place.func, ast.Attribute) and place.func.attr == "get":
        if isinstance(place.func.value, ast.Name) and len(place.args) == 2 and not place.keywords:
            return place.func.value, place.args[0], place.args[1]
    return None, None, None


def _is_function(found: Definition | None) -> bool:
    return found is not None and isinstance(found.node, ast.FunctionDef) and not found.node.decorator_list


def _moves(found: Definition | None) -> bool:
    """Whether a function names what only the code of a model can say: a schedule, a loss."""
    return found is not None and any(is_refused(name) for _, name in found.module.references_in(found.node))


def _makes_layers(found: Definition | None) -> bool:
    """Whether a function makes layers: such become classes, of which a table may hold several."""
    layers = translations().layers
    return found is not None and any(name in layers for _, name in found.module.references_in(found.node))


def _is_step(module: Module, node: ast.expr) -> bool:
    """Whether an argument is the global step."""
    statement = module.assignment(node)
    value = statement.value if statement is not None else node
    return isinstance(value, ast.Call) and module.resolve(value.func) in _STEPS


def _without(project: Project, module: Module, table: ast.Dict, read: ast.Name) -> list[Change] | None:
    """The changes of the table itself, that nothing calls a function of any more; None where it is used otherwise."""
    made = module.parent(table)
    if not isinstance(made, ast.Assign) or not isinstance(made.targets[0], ast.Name):
        return None
    target = made.targets[0]
    others = [place for place in project.readers.of(module, module.scope(target), target.id) if place[1] is not read]
    if any(_is_called(where, node) for where, node in others):
        return []  # its turn comes with the last one
    if not others:
        return Change.of(module, Remove(made))
    if not all(_lists_keys(where, node) for where, node in others):
        return None
    keys = ", ".join(module.segment(key) for key in table.keys if key is not None)
    return Change.of(module, Replace(table, code(f"[{keys}]")))


def _is_called(module: Module, node: ast.expr) -> bool:
    parent = module.parent(node)
    call = module.parent(parent) if parent is not None else None
    return (
        isinstance(parent, ast.Subscript)
        and parent.value is node
        and isinstance(call, ast.Call)
        and call.func is parent
    )


def _lists_keys(module: Module, node: ast.expr) -> bool:
    """Whether a place reads the keys of a dict alone, as it would read a list of them."""
    parent = module.parent(node)
    if isinstance(parent, ast.Compare):
        return parent.comparators == [node] and isinstance(parent.ops[0], (ast.In, ast.NotIn))
    if isinstance(parent, (ast.For, ast.comprehension)):
        return parent.iter is node
    if isinstance(parent, ast.keyword):
        return parent.arg == "choices"
    if not isinstance(parent, ast.Call) or node not in parent.args:
        return False
    joins = isinstance(parent.func, ast.Attribute) and parent.func.attr == "join"
    return joins or any(is_name(parent.func, name) for name in _LISTING) and len(parent.args) == 1

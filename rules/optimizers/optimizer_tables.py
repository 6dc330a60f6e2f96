"""Optimizers that are chosen inside of an expression, written as an `if`, so that native follows each of them."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import TYPE_CHECKING

from migrator.analyse.statements.names import reads
from migrator.normalise.desugaring import Desugaring
from migrator.normalise.draft.draft import Change, Drafts
from migrator.normalise.draft.spelled import spelled
from migrator.resolve.module import Module
from migrator.resolve.project import Project
from migrator.resolve.syntax import walk
from migrator.rewrite import Remove, Statement, expr, statements

from .optimizers import OPTIMIZERS

if TYPE_CHECKING:
    import libcst as cst

    Choice = tuple[cst.BaseExpression, cst.BaseExpression]
    """What is asked, and what makes the optimizer then."""

_ATOMS = (ast.Name, ast.Attribute, ast.Constant)


@Desugaring
def expand(drafts: Drafts, module: Module, call: ast.Call) -> list[Change]:
    """The statements for one such call, if nothing else reads the dict, which goes; none for other calls.

    ```python
    import tensorflow as tf


    def train_op(loss, name):
        optimizer = {"adam": tf.train.AdamOptimizer, "sgd": tf.train.GradientDescentOptimizer}[name](0.1)
        return optimizer.minimize(loss)
    ```
    becomes
    ```python
    import tensorflow as tf


    def train_op(loss, name):
        if name == "adam":
            optimizer = tf.train.AdamOptimizer(0.1)
        elif name == "sgd":
            optimizer = tf.train.GradientDescentOptimizer(0.1)
        else:
            raise KeyError(name)
        return optimizer.minimize(loss)
    ```
    """
    place = call.func
    if not isinstance(place, ast.Subscript):
        return _conditional(module, call)
    statement = _table(drafts.project, module, place.value) if isinstance(place.value, ast.Name) else None
    table = statement.value if statement is not None else place.value
    if not isinstance(table, ast.Dict) or any(isinstance(n, (ast.Call, ast.NamedExpr)) for n in walk(place.slice)):
        return []
    choices = [(key, _made(module, value, call)) for key, value in zip(table.keys, table.values)]
    keys = [key.value if isinstance(key, ast.Constant) else None for key, _ in choices]
    if not all(isinstance(key, str) for key in keys) or len(set(keys)) < len(keys):
        return []
    if any(made is None for _, made in choices):
        return []
    chosen = module.cst.expression(place.slice)
    known = [
        (expr("{chosen} == {key}", chosen=chosen, key=module.cst.expression(key)), made)
        for key, made in choices
        if key is not None and made is not None
    ]

    def make(name: str) -> list[Statement]:
        own = module.unused_name(f"{name}_2", call) if name in reads(place.slice) else name  # not what the tests read
        made = by_test(own, known, statements("raise KeyError({chosen})", chosen=chosen))
        return made if own == name else [*made, *statements("{name} = {own}", name=name, own=own)]

    changes = spelled(module, call, "optimizer", make)
    gone = Change.of(module, Remove(statement)) if changes and statement is not None else []
    return [*gone, *changes]


def is_table(module: Module, node: ast.expr) -> bool:
    """Whether an expression is a dict of classes of optimizers, or the name of one."""
    statement = module.assignment(node)
    table = statement.value if statement is not None else node
    return isinstance(table, ast.Dict) and any(module.resolve(value) in OPTIMIZERS for value in table.values)


def by_test(name: str, choices: Sequence[Choice], other: Sequence[Statement]) -> list[Statement]:
    """``if test: name = value``, with an arm for each choice, and for anything else."""
    arms = [f"if {{test{i}}}:\n    {{name}} = {{value{i}}}\n" for i in range(len(choices))]
    holes: dict[str, cst.BaseExpression] = {}
    for i, (test, value) in enumerate(choices):
        holes |= {f"test{i}": test, f"value{i}": value}
    return statements("el".join(arms) + "else:\n    {other}", name=name, other=other, **holes)


def _conditional(module: Module, call: ast.Call) -> list[Change]:
    """The statements for a condition that chooses between two optimizers, the first of which is made by `call`."""
    whole = module.parent(call)
    if not isinstance(whole, ast.IfExp) or whole.body is not call or isinstance(module.parent(whole), ast.IfExp):
        return []
    made: list[Choice] = []
    value: ast.expr = whole
    while isinstance(value, ast.IfExp) and _is_optimizer(module, value.body):
        made.append((module.cst.expression(value.test), module.cst.expression(value.body)))
        value = value.orelse
    if not _is_optimizer(module, value) or module.comments_in(*module.span(whole)):
        return []
    last = module.cst.expression(value)

    def make(name: str) -> list[Statement]:
        return by_test(name, made, statements("{name} = {last}", name=name, last=last))

    return spelled(module, whole, "optimizer", make)


def _is_optimizer(module: Module, node: ast.expr) -> bool:
    """Whether an expression is a call that makes an optimizer."""
    return isinstance(node, ast.Call) and module.resolve(node.func) in OPTIMIZERS


def _table(project: Project, module: Module, name: ast.Name) -> ast.Assign | None:
    """The statement that gives the name a dict, which only the place of `name` reads."""
    bindings = module.bindings(name)
    holder = module.scope(name).lookup(name.id)
    if len(bindings) != 1 or holder is None or holder.kind not in ("module", "function"):
        return None
    statement = module.parent(bindings[0].node)
    if not isinstance(statement, ast.Assign) or statement.targets != [bindings[0].node]:
        return None
    if not isinstance(statement.value, ast.Dict) or not statement.value.keys:
        return None
    if [node for _, node in project.readers.of(module, holder, name.id)] != [name]:
        return None
    body = getattr(module.parent(statement), "body", [])
    return (
        statement if statement in body and len(body) > 1 and not module.comments_in(*module.span(statement)) else None
    )


def _made(module: Module, value: ast.expr, call: ast.Call) -> cst.BaseExpression | None:
    """What makes the optimizer of an entry: a class of optimizers, or a lambda around one."""
    if not isinstance(value, ast.Lambda):
        known = module.resolve(value) in OPTIMIZERS
        return module.cst.call(call).with_changes(func=module.cst.expression(value)) if known else None
    args = value.args
    names = [argument.arg for argument in args.args]
    plain = not (args.vararg or args.kwarg or args.kwonlyargs or args.defaults or args.posonlyargs or call.keywords)
    made = value.body
    if not plain or len(names) != len(call.args) or not all(isinstance(argument, _ATOMS) for argument in call.args):
        return None
    if not isinstance(made, ast.Call) or module.resolve(made.func) not in OPTIMIZERS:
        return None
    if any(isinstance(node, (ast.Lambda, ast.comprehension, ast.JoinedStr)) for node in walk(made)):
        return None
    given = dict(zip(names, map(module.cst.expression, call.args)))
    reads = [node for node in walk(made) if isinstance(node, ast.Name) and node.id in given]
    return module.cst.filled(made, {node: given[node.id] for node in reads})

"""Initializers that conditions choose once, for several weights: a function chooses, and makes one for each of them."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from migrator.normalise.desugaring import Desugaring
from migrator.normalise.draft.draft import Change, Drafts
from migrator.resolve.module import Module
from migrator.resolve.project import Project
from migrator.resolve.syntax import walk
from migrator.rewrite import Insert, Remove, Replace, expr, statements

from .own_initializers import draws, is_given, is_repeated

Arm = tuple["ast.expr | None", "ast.Assign | ast.Raise"]
"""A condition, None for what is left, and what is done then."""


@Desugaring
def expand(drafts: Drafts, module: Module, function: ast.FunctionDef) -> list[Change]:
    """The changes for one such initializer; none where one weight gets it, or the conditions may say something else later.

    ```python
    import tensorflow as tf


    def network(x, kind):
        if kind == "normal":
            init = tf.random_normal_initializer(0.1)
        else:
            init = tf.glorot_uniform_initializer()
        x = tf.layers.dense(x, 8, kernel_initializer=init)
        return tf.layers.dense(x, 8, kernel_initializer=init)
    ```
    becomes
    ```python
    import tensorflow as tf


    def make_init(kind):
        if kind == "normal":
            return tf.random_normal_initializer(0.1)
        return tf.glorot_uniform_initializer()


    def network(x, kind):
        x = tf.layers.dense(x, 8, kernel_initializer=make_init(kind))
        return tf.layers.dense(x, 8, kernel_initializer=make_init(kind))
    ```
    """
    if module.parent(function) is not module.tree or module.indent(function) is None:
        return []
    for node in walk(function):
        arms = list(_arms(node)) if isinstance(node, ast.If) else []
        name = _chosen(drafts.project, module, arms)
        if isinstance(node, ast.If) and name is not None:
            changes = _chosen_by_function(module, function, node, arms, name)
            if changes:
                return changes
    return []


def _arms(node: ast.If) -> Iterator[Arm]:
    """The arms of a condition, also those of an `elif`, where each is one statement, and the last one has no condition."""
    rest: list[ast.stmt] = [node]
    while len(rest) == 1 and isinstance(inner := rest[0], ast.If):
        if len(inner.body) != 1 or not isinstance(inner.body[0], (ast.Assign, ast.Raise)):
            return
        yield inner.test, inner.body[0]
        rest = inner.orelse
    if len(rest) == 1 and isinstance(rest[0], (ast.Assign, ast.Raise)):
        yield None, rest[0]


def _chosen(project: Project, module: Module, arms: list[Arm]) -> str | None:
    """The name to which each arm that does not end with an error gives an initializer which draws."""
    if not arms or arms[-1][0] is not None:
        return None
    names = set()
    for _, done in arms:
        if isinstance(done, ast.Assign):
            target = done.targets[0]
            if len(done.targets) > 1 or not isinstance(target, ast.Name) or not draws(project, module, done.value):
                return None
            names.add(target.id)
    return names.pop() if len(names) == 1 else None


def _chosen_by_function(
    module: Module, function: ast.FunctionDef, node: ast.If, arms: list[Arm], name: str
) -> list[Change]:
    scope = module.scope(node.test).lookup(name)
    loads = module.loads_of(name, scope) if scope is not None else []
    made = sum(isinstance(done, ast.Assign) for _, done in arms)
    if scope is None or scope.node is not function or len(scope.bindings.get(name, ())) != made:
        return []
    if not loads or not all(is_given(module, load) for load in loads):
        return []
    if len(loads) < 2 and not any(is_repeated(module, node, load) for load in loads):
        return []
    asked = sorted(_asked(module, arms, function))
    if any(len(scope.bindings.get(each, ())) != 1 for each in asked):
        return []
    maker = module.unused_name(f"make_{name}", node)
    body = []
    for test, done in arms:
        does = (
            statements("return {value}", value=module.cst.expression(done.value))
            if isinstance(done, ast.Assign)
            else [module.cst.statement(done)]
        )
        body += (
            does if test is None else statements("if {test}:\n    {does}", test=module.cst.expression(test), does=does)
        )
    head = statements(f"def {maker}({', '.join(asked)}):\n    {{body}}", body=body)
    call = f"{maker}({', '.join(asked)})"
    calls = (Replace(load, expr(call)) for load in loads)
    return Change.of(module, Insert(head, before=function, apart=True), Remove(node), *calls)


def _asked(module: Module, arms: list[Arm], function: ast.FunctionDef) -> set[str]:
    """The names of the function that conditions and initializers are made of."""
    parts = [part for test, done in arms for part in (test, done.value if isinstance(done, ast.Assign) else done)]
    nodes = [n for part in parts if part is not None for n in walk(part) if isinstance(n, ast.Name)]
    return {n.id for n in nodes if (holder := module.scope(n).lookup(n.id)) is not None and holder.node is function}

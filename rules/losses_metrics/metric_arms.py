"""A metric that each arm of an `if` makes, of values of its own: one metric, made below of what the arms choose."""

from __future__ import annotations

import ast

from migrator.analyse.statements.names import binds, reads
from migrator.normalise.desugaring import Desugaring
from migrator.normalise.draft.draft import Change, Drafts
from migrator.resolve.module import Module
from migrator.resolve.syntax import target_name, walk
from migrator.rewrite import Insert, Replace, Statement, statements, with_arguments

from .metric_facts import METRICS

_PREFIX = "tensorflow.metrics."


@Desugaring
def expand(drafts: Drafts, module: Module, function: ast.FunctionDef) -> list[Change]:
    """The changes for one such metric; none if there is no more.

    ```python
    import tensorflow as tf


    def model_fn(whole):
        if whole.shape[1] == 1:
            size = tf.metrics.mean(whole)
        else:
            last = whole[:, -1]
            size = tf.metrics.mean(last)
        return size
    ```
    becomes
    ```python
    import tensorflow as tf


    def model_fn(whole):
        if whole.shape[1] == 1:
            size_values = whole
        else:
            last = whole[:, -1]
            size_values = last
        size = tf.metrics.mean(size_values)
        return size
    ```
    """
    for node in walk(function):
        arms = _arms(node) if isinstance(node, ast.If) else []
        for statement in arms[0] if len(arms) > 1 else ():
            name = target_name(statement)
            if isinstance(node, ast.If) and name and (changes := _below(module, function, node, arms, name)):
                return changes
    return []


def _arms(node: ast.If) -> list[list[ast.stmt]]:
    """What runs in each case; nothing where one of them is to go on as before."""
    if len(node.orelse) == 1 and isinstance(node.orelse[0], ast.If):
        others = _arms(node.orelse[0])
        return [node.body, *others] if others else []
    return [node.body, node.orelse] if node.orelse else []


def _below(
    module: Module, function: ast.FunctionDef, node: ast.If, arms: list[list[ast.stmt]], name: str
) -> list[Change]:
    made = [[statement for statement in arm if target_name(statement) == name] for arm in arms]
    stores = [n for n in walk(node) if isinstance(n, ast.Name) and n.id == name and not isinstance(n.ctx, ast.Load)]
    if [len(found) for found in made] != [1] * len(arms) or len(stores) != len(arms):
        return []
    calls = [found[0].value for found in made if isinstance(found[0], ast.Assign)]
    metrics = [call for call in calls if isinstance(call, ast.Call) and _short(module, call) in METRICS]
    if len(metrics) < len(calls) or len({(_short(module, call), *_keys(module, call)) for call in metrics}) > 1:
        return []
    for arm, (statement,), call in zip(arms, made, metrics):
        after = arm[arm.index(statement) + 1 :]
        bound = set().union(*map(binds, after))
        if name in reads(after) or bound & reads(call):
            return []
    values = [[*call.args, *(keyword.value for keyword in call.keywords)] for call in metrics]
    keys = _keys(module, metrics[0])
    apart = [at for at, column in enumerate(zip(*values)) if keys and len(set(map(ast.unparse, column))) > 1]
    new = {at: f"{name}_{keys[at]}" for at in apart}
    used = {n.id for n in walk(function) if isinstance(n, ast.Name)} | set(module.bound_names)
    if not apart or not used.isdisjoint(new.values()):
        return []
    chosen = [
        Replace(statement, [s for at in apart for s in _assigned(module, new[at], row[at])])
        for (statement,), row in zip(made, values)
    ]
    one = with_arguments(module.cst.call(metrics[0]), values=new)
    return Change.of(module, *chosen, Insert(statements("{name} = {value}", name=name, value=one), after=node))


def _assigned(module: Module, name: str, value: ast.expr) -> list[Statement]:
    return statements("{name} = {value}", name=name, value=module.cst.expression(value))


def _short(module: Module, call: ast.Call) -> str:
    """The name of a metric in `tf.metrics`."""
    name = module.resolve(call.func) or ""
    return name.removeprefix(_PREFIX) if name.startswith(_PREFIX) else ""


def _keys(module: Module, call: ast.Call) -> list[str]:
    """The parameters that the arguments of a call are for; empty where they are not seen."""
    fact = METRICS.get(_short(module, call))
    names = fact.parameters.split() if fact is not None else []
    keywords = [keyword.arg for keyword in call.keywords if keyword.arg is not None]
    hidden = len(keywords) < len(call.keywords) or any(isinstance(argument, ast.Starred) for argument in call.args)
    return [] if hidden or len(call.args) > len(names) else [*names[: len(call.args)], *keywords]

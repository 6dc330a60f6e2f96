"""Metrics that a dict makes, and that the program reads by their keys: each gets a name, so that native finds it there."""

from __future__ import annotations

import ast
import keyword
import re

from migrator.normalise.desugaring import Desugaring
from migrator.normalise.draft.draft import Change, Drafts
from migrator.resolve.module import Module
from migrator.resolve.syntax import walk
from migrator.rewrite import Insert, Replace, expr, statements

from .metrics import METRICS


@Desugaring
def expand(drafts: Drafts, module: Module, function: ast.FunctionDef) -> list[Change]:
    """The changes for one metric of a function; none if there is no more.

    ```python
    import tensorflow as tf


    def model_fn(labels, classes):
        metrics = {"accuracy": tf.metrics.accuracy(labels, classes)}
        tf.summary.scalar("accuracy", metrics["accuracy"][1])
        return metrics
    ```
    becomes
    ```python
    import tensorflow as tf


    def model_fn(labels, classes):
        accuracy = tf.metrics.accuracy(labels, classes)
        metrics = {"accuracy": accuracy}
        tf.summary.scalar("accuracy", accuracy[1])
        return metrics
    ```
    """
    for read in walk(function):
        held = read.value if isinstance(read, ast.Subscript) and isinstance(read.ctx, ast.Load) else None
        made = module.assignment(held) if isinstance(held, ast.Name) else None
        if made is None or not isinstance(made.value, ast.Dict) or not isinstance(held, ast.Name):
            continue
        if module.nearest(made, (ast.FunctionDef, ast.Lambda)) is not function or module.indent(made) is None:
            continue
        key = _key(read)
        entries = dict(zip(map(_constant, made.value.keys), made.value.values))
        value = entries.get(key) if key is not None and len(entries) == len(made.value.keys) else None
        value = None if None in entries else value
        loads = module.loads_of(held.id, module.scope(held).lookup(held.id))
        reads = [load for load in loads if key is not None and _key(module.parent(load)) == key]
        if value is None or not all(_stays(module, load) for load in loads) or _in_string(module, reads):
            continue
        if isinstance(value, ast.Call) and module.resolve(value.func) in METRICS:
            name = _free(module, function, str(key))
            new = statements("{name} = {value}", name=name, value=module.cst.expression(value))
            places = [place for place in map(module.parent, reads) if isinstance(place, ast.Subscript)]
            instead = [Replace(place, expr(name)) for place in (value, *places)]
            return Change.of(module, Insert(new, before=made), *instead)
    return []


def _constant(node: ast.expr | None) -> str | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def _key(node: ast.AST | None) -> str | None:
    """The key by which an entry is read."""
    return _constant(node.slice) if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load) else None


def _stays(module: Module, load: ast.Name) -> bool:
    """Whether what reads a dict leaves its entries as they are: it reads one, hands the dict to TensorFlow, or returns it."""
    parent = module.parent(load)
    if isinstance(parent, ast.Subscript):
        return parent.value is load and isinstance(parent.ctx, ast.Load)
    if isinstance(parent, ast.Attribute):
        return parent.attr in ("items", "keys", "values")
    call = module.parent(parent) if isinstance(parent, ast.keyword) else parent
    known = isinstance(call, ast.Call) and (module.resolve(call.func) or "").startswith("tensorflow.")
    return known or isinstance(parent, (ast.Return, ast.IfExp, ast.BoolOp, ast.Compare))


def _in_string(module: Module, loads: list[ast.Name]) -> bool:
    return any(isinstance(outer, ast.JoinedStr) for load in loads for outer in module.ancestors(load))


def _free(module: Module, function: ast.FunctionDef, key: str) -> str:
    name = re.sub(r"\W+", "_", key).strip("_").lower() or "metric"
    name = f"metric_{name}" if name[0].isdigit() or keyword.iskeyword(name) else name
    used = {n.id for n in walk(function) if isinstance(n, ast.Name)} | {
        n.arg for n in walk(function) if isinstance(n, ast.arg)
    }
    used |= set(module.bound_names)
    while name in used:
        name += "_metric"
    return name

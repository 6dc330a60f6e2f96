"""Metrics that a dict makes, and that the program reads by their keys: each gets a name, so that native finds it there."""

from __future__ import annotations

import ast
import keyword
import re
from collections.abc import Iterator

from migrator.analyse.statements.names import binds
from migrator.normalise.desugaring import Desugaring
from migrator.normalise.draft.draft import Change, Drafts
from migrator.resolve.module import Module
from migrator.resolve.syntax import walk
from migrator.rewrite import Insert, Replace, expr, statements

from .metrics import METRICS

_OF_KEYS = (ast.Constant, ast.Name, ast.BinOp, ast.operator, ast.expr_context, ast.JoinedStr, ast.FormattedValue)


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
        if (
            value is None
            or not all(_stays(module, load) or _is_other(module, load, str(key)) for load in loads)
            or _in_string(module, reads)
        ):
            continue
        if isinstance(value, ast.Call) and module.resolve(value.func) in METRICS:
            name = _free(module, function, str(key))
            new = statements("{name} = {value}", name=name, value=module.cst.expression(value))
            places = [place for place in map(module.parent, reads) if isinstance(place, ast.Subscript)]
            instead = [Replace(place, expr(name)) for place in (value, *places)]
            return Change.of(module, Insert(new, before=made), *instead)
    return _stored(module, function)


def _stored(module: Module, function: ast.FunctionDef) -> list[Change]:
    """The changes for a metric that a statement puts into a dict, and that statements after it in its block read there:
    ``metrics[key] = tf.metrics.auc(…)``."""
    for made in walk(function):
        target = made.targets[0] if isinstance(made, ast.Assign) and len(made.targets) == 1 else None
        if (
            not isinstance(made, ast.Assign)
            or not isinstance(target, ast.Subscript)
            or not _is_metric(module, made.value)
        ):
            continue
        if not isinstance(target.value, ast.Name) or module.nearest(made, ast.FunctionDef) is not function:
            continue
        reads = list(_reads_after(module, made, target.value.id, target.slice))
        if reads and module.indent(made) is not None:
            name = _free(module, function, _constant(target.slice) or "metric")
            new = statements("{name} = {value}", name=name, value=module.cst.expression(made.value))
            instead = [Replace(place, expr(name)) for place in (made.value, *reads)]
            return Change.of(module, Insert(new, before=made), *instead)
    return []


def _is_metric(module: Module, node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and module.resolve(node.func) in METRICS


def _reads_after(module: Module, made: ast.Assign, held: str, key: ast.expr) -> Iterator[ast.Subscript]:
    """What reads an entry after the statement that stores it, as long as neither the dict nor the key may have changed."""
    block = next((b for b in vars(module.parent(made)).values() if isinstance(b, list) and made in b), [])
    if any(not isinstance(node, _OF_KEYS) for node in walk(key)):
        return
    named = {node.id for node in walk(key) if isinstance(node, ast.Name)} | {held}
    for statement in block[block.index(made) + 1 :]:
        found = [n for n in walk(statement) if isinstance(n, ast.Name) and n.id == held]
        if binds(statement) & named or not all(_stays(module, load) for load in found):
            return
        for load in found:
            read = module.parent(load)
            if isinstance(read, ast.Subscript) and ast.dump(read.slice) == ast.dump(key):
                if not any(
                    isinstance(outer, (ast.JoinedStr, ast.Lambda, ast.FunctionDef))
                    for outer in module.ancestors(read)
                    if module.is_inside(outer, statement)
                ):
                    yield read


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


def _is_other(module: Module, load: ast.Name, key: str) -> bool:
    """Whether another entry is stored."""
    parent = module.parent(load)
    stored = isinstance(parent, ast.Subscript) and isinstance(module.parent(parent), ast.Assign)
    return stored and isinstance(parent, ast.Subscript) and _constant(parent.slice) not in (None, key)


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

"""LoggingTensorHooks that ask for the value of a metric by the name of an op: ``tf.identity(accuracy[1], "train_accuracy")``.

In a session, a metric goes on only in steps in which somebody reads it: the callback says that it does.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import TYPE_CHECKING

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.function.plan import Plan
from migrator.analyse.function.translate import bind
from migrator.analyse.results.metricreads import named, summarized
from migrator.analyse.results.opnames import short_name
from migrator.analyse.statements.flow import Leaf
from migrator.resolve.module import Module
from migrator.resolve.syntax import walk
from migrator.rewrite import Replace, code, with_arguments

from .hooks import HOOKS, LOGGING, hook_of
from .logged_names import logged_names

if TYPE_CHECKING:
    from ..estimator_calls.driver import Driver


def metric_loggers(drivers: Iterable[Driver], plans: list[Plan], watched: frozenset[str]) -> None:
    """Let the callbacks that read metrics say so. Raises Unsupported where somebody else reads them at other steps."""
    metrics = {name: made for plan in plans for name, made in named(plan).items() if name in watched}
    if not metrics:
        return
    found: list[tuple[Driver, ast.Call, set[Leaf]]] = []
    for driver in drivers:
        _check_own_hooks(driver.module, metrics)
        for node, name in driver.module.references():
            call = driver.module.parent(node)
            if hook_of(name) == LOGGING and isinstance(call, ast.Call) and call.func is node:
                given = bind(call, HOOKS[LOGGING].signature, LOGGING)
                asked = logged_names(driver.project, driver.module, given.get("tensors"), call)
                read = set().union(*(metrics[key] for key in asked if key in metrics))
                found += [(driver, call, read)] if read else []
    others = any(leaf in plan.watched for plan in plans for leaf in plan.metric_effects)
    for driver, call, read in found:
        if len(found) > 1 or others:
            raise Unsupported("several hooks read metrics of the training", call)
        recorded = set().union(*map(summarized, plans))
        if recorded and recorded != read:
            raise Unsupported("a hook and a summary read different metrics of the training", call)
        add = {name: code("True") for name in ("metrics", *(["summarized"] if recorded else []))}
        driver.change(Replace(call, with_arguments(driver.module.cst.call(call), add=add)))


def _check_own_hooks(module: Module, metrics: Iterable[str]) -> None:
    """Refuse classes that may read a metric by its name: each step in which they do would count."""
    for definition in module.nodes(ast.ClassDef):
        for node in walk(definition):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                if short_name(node.value) in metrics:
                    raise Unsupported("a metric of the training is read by a hook of the program's own", node)

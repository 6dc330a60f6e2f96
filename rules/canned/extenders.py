"""`add_metrics` and `forward_features` of `tf.contrib.estimator` around a canned Estimator.

The functions of the program that compute the metrics stay, with those of `tf.compat.v1.metrics`, in a graph of their own.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.function.translate import bind, is_none
from migrator.resolve.calls import arguments
from migrator.resolve.module import Module
from migrator.resolve.project import Definition, Project
from migrator.resolve.redefined import defined_above
from migrator.resolve.syntax import walk
from migrator.rewrite import Rename, Replace, with_arguments

from ..estimator_calls.driver import Driver
from ..estimator_calls.estimator_values import EXTENDERS, Construction, extended
from .canned import CANNED

_SIGNATURES = {"add_metrics": "estimator metric_fn", "forward_features": "estimator keys sparse_default_values"}


def extend(
    project: Project, group: Iterable[Module], constructions: list[Construction], driver: Callable[[Module], Driver]
) -> None:
    """Give the drivers the edits of all calls that extend an Estimator. Raises Unsupported."""
    for module in group:
        for node, name in module.references():
            call = module.parent(node)
            if name in EXTENDERS and isinstance(call, ast.Call) and call.func is node:
                if not all(each.name in CANNED for each in extended(module, call, constructions)):
                    raise Unsupported(f"`{name.rpartition('.')[2]}` of an Estimator with a model_fn", node)
                _extend(project, module, call, name.rpartition(".")[2], driver)


def _extend(project: Project, module: Module, call: ast.Call, name: str, driver: Callable[[Module], Driver]) -> None:
    given = bind(call, _SIGNATURES[name], f"`{name}`")
    if "estimator" not in given or (name == "add_metrics" and "metric_fn" not in given):
        raise Unsupported(f"`{name}` without its arguments", call)
    if not is_none(given.get("sparse_default_values")):
        raise Unsupported("`sparse_default_values` of forward_features is not migrated yet", call)
    if not _takes_its_place(module, call, given["estimator"]):
        raise Unsupported(f"`{name}` makes a second Estimator of one that stays under its own name", call)
    own = driver(module)
    own.replace(call.func, own.need(name, call.func))
    for at, argument in enumerate(arguments(call)):
        if isinstance(argument, ast.keyword) and argument.arg == "estimator":
            own.change(Rename(argument, "model"))
        elif given.get("sparse_default_values") in (argument, getattr(argument, "value", argument)):
            own.change(Replace(call, with_arguments(module.cst.call(call), drop=[at])))
    if name == "add_metrics":
        _metrics(project, module, given["metric_fn"], driver)


def _takes_its_place(module: Module, call: ast.Call, estimator: ast.expr) -> bool:
    """Whether nothing can use the Estimator that was extended."""
    parent = module.parent(call)
    if isinstance(estimator, ast.Call) or isinstance(parent, ast.Return):
        return True
    targets = parent.targets if isinstance(parent, ast.Assign) else []
    return len(targets) == 1 and module.segment(targets[0]) == module.segment(estimator)


def _metrics(project: Project, module: Module, value: ast.expr, driver: Callable[[Module], Driver]) -> None:
    """The metrics that a function makes stay those of TensorFlow 1."""
    where, function = module, value
    if not isinstance(value, ast.Lambda):
        definition = project.definition(module, value)
        again = defined_above(module, value) if definition is None else None
        if again is not None:
            definition = Definition(module, again)
        if definition is None or not isinstance(definition.node, ast.FunctionDef):
            raise Unsupported("the function of `add_metrics` is not found", value)
        where, function = definition.module, definition.node  # type: ignore[assignment]
    inside = {id(node) for node in walk(function)}
    for node, name in where.references():
        if id(node) not in inside or node in driver(where).handled:
            continue
        if name.startswith("tensorflow.keras.metrics.") or (
            name.startswith("tensorflow.metrics.") and where.dialect(node) == "v2"
        ):
            raise Unsupported("metrics of Keras in a function of `add_metrics` are not migrated yet", node)
        if name.startswith("tensorflow.metrics."):
            text = f"{driver(where).tensorflow()}.compat.v1.{name[len('tensorflow.') :]}"
            driver(where).replace(node, text)

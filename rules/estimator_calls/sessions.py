"""Sessions that a program opens beside its Estimators: on a graph of their own they work in TensorFlow 2 as they did."""

from __future__ import annotations

import ast
from collections.abc import Callable

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.function.translate import bind, is_none
from migrator.resolve.module import Module
from migrator.resolve.syntax import walk

from ..hooks.logged_names import assigned_value
from .driver import Driver

SESSIONS = frozenset(
    f"tensorflow.{name}"
    for name in ("Session", "InteractiveSession", "train.MonitoredTrainingSession", "train.MonitoredSession")
)
PLAIN = frozenset({"tensorflow.Session", "tensorflow.InteractiveSession"})
"""Those that start and save nothing by themselves."""
_GRAPH = "tensorflow.Graph"
_MODULE = "tensorflow_hub.Module"
_OF_MODULES = "a hub.Module starts its variables in a session; hub.KerasLayer is its successor"
_READERS = frozenset({"tensorflow.train.Saver", "tensorflow.train.import_meta_graph"})


def session_reference(driver: Driver, node: ast.expr, name: str) -> None:
    """Look at a reference to a session, or to what needs one. Raises Unsupported where there would be none."""
    module = driver.module
    if name not in SESSIONS and name not in _READERS and name != _MODULE:
        return
    own = has_own_graph(module, node)
    if name in SESSIONS and not own:
        raise Unsupported(f"{name.replace('tensorflow', 'tf', 1)} works on the graph by itself", node)
    if name == _MODULE and not own:
        raise Unsupported(_OF_MODULES, node)
    if name in _READERS and own:
        driver.remark(
            node, "this reads checkpoints as TensorFlow 1 writes them: those of the migrated model are others"
        )


def has_own_graph(module: Module, node: ast.expr) -> bool:
    """Whether a reference to a session, or to what needs one, is inside of a graph of its own, or a session is given one."""
    return on_own_graph(module, node) or _with_own_graph(module, module.parent(node))


def makes_own_graph(module: Module, node: ast.expr) -> bool:
    """Whether a reference makes the graph in ``tf.Session(graph=tf.Graph())``."""
    made = module.parent(node)
    given = module.parent(made) if isinstance(made, ast.Call) and made.func is node else None
    return isinstance(given, ast.keyword) and given.arg == "graph" and _with_own_graph(module, module.parent(given))


def refuse_hub_modules(module: Module, called: Callable[[Module, ast.AST], bool]) -> None:
    """Raises Unsupported where a module of a program that becomes layers makes a `hub.Module` in code that is `called`."""
    if b"tensorflow_hub" in module.source:
        for node, name in module.references():
            if name == _MODULE and not on_own_graph(module, node) and called(module, node):
                raise Unsupported(_OF_MODULES, node)


def on_own_graph(module: Module, node: ast.expr) -> bool:
    """Whether a place is inside of ``with tf.Graph().as_default():`` or a session of such a graph, in the same function."""
    for ancestor in module.ancestors(node):
        if isinstance(ancestor, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            return False
        for item in ancestor.items if isinstance(ancestor, ast.With) else ():
            if any(part is node for part in walk(item)):
                break
            entered = item.context_expr
            method = entered.func if isinstance(entered, ast.Call) else None
            if isinstance(method, ast.Attribute) and method.attr == "as_default" and _is_graph(module, method.value):
                return True
            if _with_own_graph(module, entered):
                return True
    return False


def _with_own_graph(module: Module, call: ast.AST | None) -> bool:
    """``tf.Session(graph=graph)`` with a graph that the program made."""
    if not isinstance(call, ast.Call):
        return False
    name = module.resolve(call.func)
    if name not in PLAIN:
        return False
    graph = bind(call, "target graph config", name.replace("tensorflow", "tf", 1)).get("graph")
    return graph is not None and not is_none(graph) and _is_graph(module, graph)


def _is_graph(module: Module, node: ast.expr) -> bool:
    made = assigned_value(module, node)
    return isinstance(made, ast.Call) and module.resolve(made.func) == _GRAPH

"""Heads in a model_fn that stays a graph: ``head.create_estimator_spec(…)`` becomes a vendored function of that name.

A head of the program's own is an ordinary class: the private interface that it derives from does nothing.
"""

from __future__ import annotations

import ast

from migrator.calls import parentheses
from migrator.modelfn.errors import Unsupported
from migrator.modelfn.translate import bind
from migrator.module import Module
from migrator.project import Project

from .canned_heads import CONTRIB, GRAPH_HEADS, HEADS, head_edits
from .driver import Driver

_METHOD = "create_estimator_spec"
_SIGNATURE = "features mode logits labels optimizer train_op_fn regularization_losses"

_ROOTS = ("tensorflow.python.estimator", "tensorflow_estimator.python.estimator", "tensorflow_estimator.estimator")
INTERFACES = frozenset(f"{root}.canned.head._Head" for root in _ROOTS)
"""What heads of TensorFlow 1 derive from."""
OPTIMIZERS = frozenset(f"{root}.canned.optimizers.get_optimizer_instance" for root in _ROOTS)
"""The function behind the optimizer arguments of canned Estimators."""


def own_head(module: Module, node: ast.expr, name: str) -> bool:
    """Whether a reference to the interface is the base of a class that makes its specs itself."""
    parent = module.parent(node)
    if name not in INTERFACES or not isinstance(parent, ast.ClassDef) or node not in parent.bases:
        return False
    return any(isinstance(method, ast.FunctionDef) and method.name == _METHOD for method in parent.body)


def rewrite_heads(project: Project, driver: Driver) -> None:
    """Take over the heads of a module, and the specs that are made of them. Raises Unsupported."""
    module = driver.module
    for node, name in module.references():
        if name in HEADS and node not in driver.handled:
            call = module.parent(node)
            if not isinstance(call, ast.Call) or call.func is not node:
                raise Unsupported("a head is handed on before it is made", node)
            if not name.startswith(CONTRIB) and _specs(module):
                raise Unsupported("a head of TensorFlow 2 in a model_fn is not migrated yet", node)
            driver.handled.update((node, *(k.value for k in call.keywords if k.arg == "loss_reduction")))
            driver.edits += head_edits(module, call, name, driver.need)
        elif own_head(module, node, name):
            driver.replace(node, "object")
    heads = set()
    modules = project.modules.values()
    for attribute, call in _specs(module):
        names = {name for other in modules for _, name in other.references() if name in HEADS}
        known = bool(names)
        for name in sorted(names - set(GRAPH_HEADS)):
            raise Unsupported(f"a {name.rsplit('.', 1)[1]} in a model_fn is not migrated yet", attribute)
        own = any(f.name == _METHOD for other in modules for f in other.nodes(ast.FunctionDef))
        if not known and not own:
            raise Unsupported("the head that makes the EstimatorSpec is not seen", attribute)
        if own and known:
            raise Unsupported("a head of the program's own and others make EstimatorSpecs", attribute)
        if own:
            continue
        bind(call, _SIGNATURE, _METHOD)
        heads.add(module.segment(attribute.value))
        start, end = module.span(attribute.value)
        opening, _ = parentheses(module, call)
        gap = module.source[opening + 1 : module.skip(opening + 1)].decode()  # before the first argument
        driver.edits.append(module.insert(start, f"{driver.need(_METHOD, call)}({gap}"))
        driver.edits.append(module.edit((end, opening + 1), "," if gap else ", "))
    for node in module.nodes(ast.Attribute) if heads else ():
        if node.attr == "logits_dimension" and module.segment(node.value) in heads:
            driver.edits.append(module.edit(node, f"{module.segment(node.value)}.units"))


def _specs(module: Module) -> list[tuple[ast.Attribute, ast.Call]]:
    """The calls of the method that makes a spec."""
    calls = [(call.func, call) for call in module.nodes(ast.Call)]
    return [(method, call) for method, call in calls if isinstance(method, ast.Attribute) and method.attr == _METHOD]

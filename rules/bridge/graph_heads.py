"""Heads in a model_fn that stays a graph: ``head.create_estimator_spec(…)`` becomes a vendored function of that name.

A head of the program's own is an ordinary class: the private interface that it derives from does nothing.
"""

from __future__ import annotations

import ast

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.function.translate import bind, is_none
from migrator.resolve.module import Module
from migrator.resolve.project import Project
from migrator.resolve.text import Spans
from migrator.rewrite import Rename, Replace, expr, with_arguments

from ..canned.canned_heads import HEADS, ROOTS, SEVERAL, SEVERAL_SIGNATURE, head_edits, of_tensorflow_2
from ..estimator_calls.driver import Driver

_METHOD = "create_estimator_spec"
_SIGNATURE = "features mode logits labels optimizer train_op_fn regularization_losses"
_SIGNATURE_2 = "features mode logits labels optimizer trainable_variables train_op_fn update_ops regularization_losses"
INTERFACES = frozenset(f"{root}.canned.head._Head" for root in ROOTS)
"""What heads of TensorFlow 1 derive from."""
OPTIMIZERS = frozenset(f"{root}.canned.optimizers.get_optimizer_instance" for root in ROOTS)
"""The function behind the optimizer arguments of canned Estimators."""


def own_head(module: Module, node: ast.expr, name: str) -> bool:
    """Whether a reference to the interface is the base of a class that makes its specs itself."""
    parent = module.parent(node)
    if name not in INTERFACES or not isinstance(parent, ast.ClassDef) or node not in parent.bases:
        return False
    return any(isinstance(method, ast.FunctionDef) and method.name == _METHOD for method in parent.body)


def rewrite_heads(project: Project, driver: Driver, spans: Spans | None = None) -> None:
    """Take over the heads of a module or those in `spans`, and the specs that are made of them. Raises Unsupported."""
    module = driver.module

    def concerned(node: ast.AST) -> bool:
        return spans is None or spans.hold(module.span(node))

    specs = [pair for pair in _specs(module) if concerned(pair[1])]
    names = {name for other in project.modules.values() for _, name in other.references() if _is_head(name)}
    heads: set[str] = set()
    for node, name in module.references():
        if not concerned(node):
            continue
        if _is_head(name) and node not in driver.handled:
            call = module.parent(node)
            if not isinstance(call, ast.Call) or call.func is not node:
                raise Unsupported("a head is handed on before it is made", node)
            driver.handled.update((node, *(k.value for k in call.keywords if k.arg == "loss_reduction")))
            if name in SEVERAL:
                bind(call, SEVERAL_SIGNATURE, "MultiHead")
                driver.change(Replace(node, driver.need("MultiHead", node)))
            else:
                driver.edits += head_edits(module, call, name, driver.need)
                made = module.parent(call)
                heads.update(map(module.segment, made.targets if isinstance(made, ast.Assign) else ()))
        elif own_head(module, node, name):
            driver.replace(node, "object")
    for attribute, call in specs:
        own = any(f.name == _METHOD for other in project.modules.values() for f in other.nodes(ast.FunctionDef))
        if not names and not own:
            raise Unsupported("the head that makes the EstimatorSpec is not seen", attribute)
        if own and names:
            raise Unsupported("a head of the program's own and others make EstimatorSpecs", attribute)
        if own:
            continue
        _rewrite_spec(driver, attribute, call, names)
        heads.add(module.segment(attribute.value))
    for node in module.nodes(ast.Attribute) if heads else ():
        if node.attr == "logits_dimension" and module.segment(node.value) in heads and concerned(node):
            driver.change(Rename(node, "units"))


def _is_head(name: str) -> bool:
    return name in HEADS or name in SEVERAL


def _rewrite_spec(driver: Driver, attribute: ast.Attribute, call: ast.Call, names: set[str]) -> None:
    """``head.create_estimator_spec(…)`` becomes a call of a function; `names` are those of all heads of the program."""
    module = driver.module
    of_2 = {name for name in names if of_tensorflow_2(name)}
    if of_2 and of_2 != names:
        raise Unsupported("heads of TensorFlow 2 and of tf.contrib make EstimatorSpecs", attribute)
    given = bind(call, _SIGNATURE_2 if of_2 else _SIGNATURE, _METHOD)
    if of_2 and len(call.args) > len("features mode logits labels".split()):
        raise Unsupported("arguments behind the labels are not given by name", call.args[4])
    for name in ("optimizer", "trainable_variables") if of_2 else ():
        if not is_none(given.get(name)):
            raise Unsupported(f"`{name}` of a head of TensorFlow 2 is not migrated yet", given[name])
    several = names & set(SEVERAL)
    if several and not is_none(given.get("regularization_losses")):
        raise Unsupported(
            "`regularization_losses` of several heads are not migrated yet", given["regularization_losses"]
        )
    helper = driver.need("create_head_spec" if several else _METHOD, call)
    old = module.cst.call(call).with_changes(func=expr(helper))
    doomed = ["optimizer", "trainable_variables"] if of_2 else []
    updates = {"update_ops": expr("()")} if of_2 and "update_ops" not in given else {}
    head = {0: module.cst.expression(attribute.value)}
    driver.change(Replace(call, with_arguments(old, insert=head, drop=doomed, add=updates)))
    if of_2 and "update_ops" in given and is_none(given["update_ops"]):
        driver.change(Replace(given["update_ops"], expr("()")))


def _specs(module: Module) -> list[tuple[ast.Attribute, ast.Call]]:
    """The calls of the method that makes a spec."""
    calls = [(call.func, call) for call in module.nodes(ast.Call)]
    return [(method, call) for method, call in calls if isinstance(method, ast.Attribute) and method.attr == _METHOD]

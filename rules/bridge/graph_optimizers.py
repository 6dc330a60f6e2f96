"""Optimizer classes of a program whose model_fn stays a graph, in which all variables are resources."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from migrator.analyse.function.errors import Unsupported
from migrator.resolve.module import Module
from migrator.resolve.project import Definition, Project
from migrator.resolve.syntax import walk
from migrator.resolve.text import Spans

from ..estimator_calls.driver import Driver
from ..optimizers.class_families import family
from ..optimizers.optimizer_classes import BASES
from ..optimizers.optimizers import OPTIMIZERS

_HELPER = "GraphOptimizer"
_FOR_RESOURCES = {"_apply_dense": "_resource_apply_dense", "_apply_sparse": "_resource_apply_sparse"}
_NON_SLOT = "_get_non_slot_variable"
_MODULES = "tensorflow.python.training."
_KERNELS = tuple(_MODULES + name for name in ("training_ops.", "gen_training_ops."))


def rewrite_optimizer_classes(project: Project, driver: Driver, spans: Spans | None = None) -> None:
    """Let the optimizer classes of a module or those in `spans` update resources, too. Raises Unsupported where they
    cannot."""
    module = driver.module
    for node in module.nodes(ast.ClassDef):
        if spans is not None and not spans.hold(module.span(node)):
            continue
        for base in node.bases:
            name = module.resolve(base) or ""
            if name in BASES or _is_optimizer(name):
                _rewrite(family(project, Definition(module, node)), node, base, name, driver)


def _is_optimizer(name: str) -> bool:
    """Whether a class of TensorFlow, by its public name or that of its module, is an optimizer with a formula."""
    return name in OPTIMIZERS or (name.startswith(_MODULES) and name.endswith("Optimizer"))


def _rewrite(classes: list[Definition], node: ast.ClassDef, base: ast.expr, name: str, driver: Driver) -> None:
    methods = {m.name: (each.module, m) for each in classes for m in each.node.body if isinstance(m, ast.FunctionDef)}
    lacking = [methods[old] for old, new in _FOR_RESOURCES.items() if old in methods and new not in methods]
    asking = next((call for each in classes for call in _asks(each)), None)
    if name not in BASES:
        if lacking:
            short = f"`{lacking[0][1].name}`, but not `{_FOR_RESOURCES[lacking[0][1].name]}`"
            raise Unsupported(f"an optimizer class changes {short}, which a graph of TensorFlow 2 calls", lacking[0][1])
        if asking is not None:
            raise Unsupported(f"an optimizer class asks for variables of a graph by `{_NON_SLOT}`", asking)
        return
    for module, method in lacking:
        for reference, called in _references(module, method):
            if called.startswith(_KERNELS):
                short = f"`{_FOR_RESOURCES[method.name]}` with the kernel for resources"
                raise Unsupported(f"a kernel does not take variables of TensorFlow 2: write {short}", reference)
    if lacking or asking is not None:
        driver.replace(base, driver.need(_HELPER, node))


def _asks(definition: Definition) -> Iterator[ast.Call]:
    """The calls that look for a variable which belongs to the optimizer itself, in a graph that they name."""
    for call in walk(definition.node):
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == _NON_SLOT:
            if len(call.args) + len(call.keywords) > 1:
                yield call


def _references(module: Module, method: ast.FunctionDef) -> Iterator[tuple[ast.expr, str]]:
    for node in walk(method):
        name = module.resolve(node) if isinstance(node, (ast.Name, ast.Attribute)) else None
        if name is not None and isinstance(node, ast.expr):
            yield node, name

"""What a RunConfig said about the place of its process in a cluster: TF_CONFIG is asked for it now."""

from __future__ import annotations

import ast
import re
from contextlib import AbstractContextManager
from typing import Any

from migrator.analyse.function.translate import is_none
from migrator.resolve.module import Module
from migrator.resolve.text import Spans
from migrator.rewrite import Rename

from ..distribute.strategies import CONFIG_FIELDS
from ..distribute.tpu_facts import short_name
from .driver import TASK_FIELDS, Driver
from .estimator_kinds import KINDS
from .estimator_values import PREFIX

_OWN = frozenset({"num_ps_replicas", "num_worker_replicas", "global_id_in_cluster"})
"""Fields that nothing but a RunConfig has."""
_FIELDS = frozenset({*TASK_FIELDS, *CONFIG_FIELDS, "master", "evaluation_master"})
_CALLED_SO = re.compile(r"(^|_)(config|conf|cfg)$", re.IGNORECASE)


def configuration_edits(driver: Driver, inside: Spans, obstacles: AbstractContextManager[Any]) -> None:
    """Edits of ``config.replace(…)``, and of fields of configurations wherever they are read.

    `inside` are the spans of functions that are written anew, which see to their own parameters.
    """
    module = driver.module
    for call in module.nodes(ast.Call):
        if isinstance(call.func, ast.Attribute) and call.func.attr == "replace":
            with obstacles:
                driver.replacement(call)
    for part in module.nodes(ast.Attribute):
        if part.attr in _FIELDS and isinstance(part.ctx, ast.Load) and part not in driver.handled:
            _field(driver, part, own=inside.hold(module.span(part)))


def task_reference(driver: Driver, node: ast.expr, name: str) -> bool:
    """Migrate ``tf.estimator.RunConfig().is_chief`` and its like, where no RunConfig is needed; whether it is one."""
    module = driver.module
    call = module.parent(node) if names_configuration(name) else None
    field = module.parent(call) if isinstance(call, ast.Call) and call.func is node else None
    if not isinstance(field, ast.Attribute) or field.attr not in TASK_FIELDS or not isinstance(field.ctx, ast.Load):
        return False
    driver.replace(field, f"{driver.need('current_task', node)}().{field.attr}")
    driver.handled.add(node)
    return True


def _field(driver: Driver, node: ast.Attribute, own: bool) -> None:
    module, base = driver.module, node.value
    known = is_configuration(module, base) or (not own and _is_handed(module, base))
    if node.attr in TASK_FIELDS and (known or (node.attr in _OWN and not own and _is_called_so(base))):
        driver.replace(node, f"{driver.need('current_task', node)}().{node.attr}")
    elif known and node.attr in CONFIG_FIELDS:
        driver.handled.add(node)
        driver.change(Rename(node, CONFIG_FIELDS[node.attr]))
    elif known and node.attr not in TASK_FIELDS:
        driver.replace(node, "''")


def names_configuration(name: str) -> bool:
    """Whether a qualified name is that of a RunConfig."""
    return name == f"{PREFIX}RunConfig" or short_name(name) == "RunConfig"


def names_estimator(name: str) -> bool:
    """Whether a qualified name is that of an Estimator which takes a RunConfig."""
    return name in KINDS or short_name(name) == "TPUEstimator"


def _is_called_so(node: ast.expr) -> bool:
    """Whether an expression is named as configurations are: ``config``, ``self.run_config``."""
    name = node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
    return bool(_CALLED_SO.search(name))


def _is_handed(module: Module, node: ast.expr) -> bool:
    """Whether an expression is the parameter `config` of a function that also has a `mode`: Estimators call model_fns
    by these names."""
    if not isinstance(node, ast.Name) or node.id != "config":
        return False
    for binding in module.bindings(node):
        parameters = module.parent(binding.node) if isinstance(binding.node, ast.arg) else None
        if not isinstance(parameters, ast.arguments):
            return False
        if not any(p.arg == "mode" for p in (*parameters.args, *parameters.kwonlyargs)):
            return False
    return bool(module.bindings(node))


def is_configuration(module: Module, node: ast.expr, above: frozenset[str] = frozenset()) -> bool:
    """Whether an expression is seen to be a RunConfig: made here, a changed copy of one, or a name for such.

    `above` are names whose other values are looked at already: ``config = config.replace(…)``.
    """
    if isinstance(node, ast.Call):
        if isinstance(node.func, ast.Attribute) and node.func.attr == "replace":
            return is_configuration(module, node.func.value, above)
        name = module.resolve(node.func) or ""
        return names_configuration(name)
    if isinstance(node, ast.Name):
        if node.id in above:
            return True
        if any(
            _configures(module, load)
            for load in module.loads(node.id)
            if module.bindings(load) == module.bindings(node)
        ):
            return True
        values = [_assigned(module, binding.node) for binding in module.bindings(node)]
        values = [value for value in values if not is_none(value) or value is None]
        inner = above | {node.id}
        return bool(values) and all(value is not None and is_configuration(module, value, inner) for value in values)
    return False


def _assigned(module: Module, node: ast.AST) -> ast.expr | None:
    """The value of the assignment that binds a name; None for other ways to bind it."""
    statement = node if isinstance(node, ast.stmt) else module.parent(node)
    return statement.value if isinstance(statement, ast.Assign) else None


def _configures(module: Module, load: ast.Name) -> bool:
    """Whether a name is what an Estimator gets as its `config`."""
    keyword = module.parent(load)
    call = module.parent(keyword) if isinstance(keyword, ast.keyword) and keyword.arg == "config" else None
    name = module.resolve(call.func) or "" if isinstance(call, ast.Call) else ""
    return names_estimator(name)

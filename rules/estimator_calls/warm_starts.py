"""`warm_start_from` of Estimators: canned ones, those whose model_fn stays a graph, and those that become layers."""

from __future__ import annotations

import ast

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.function.translate import bind, is_none

from .driver import Driver
from .estimator_values import PREFIX

SETTINGS = PREFIX + "WarmStartSettings"
_SIGNATURE = "ckpt_to_initialize_from vars_to_warm_start var_name_to_vocab_info var_name_to_prev_var_name"
_VOCABULARIES = frozenset({PREFIX + "VocabInfo", "tensorflow.train.VocabInfo"})
STARTS = frozenset({SETTINGS, *_VOCABULARIES})
"""Names that say what an Estimator starts from."""


def graph_model(driver: Driver, call: ast.Call, given: dict[str, ast.expr]) -> None:
    """``Estimator(model_fn, …)`` becomes ``graph_model(model_fn, …)``, or a function that starts with a checkpoint."""
    if is_none(given.get("warm_start_from")):
        driver.graph_model(call, given, dropped=("warm_start_from",))
    else:
        driver.graph_model(call, given, "warm_graph_model")


def settings_reference(driver: Driver, node: ast.expr, name: str) -> None:
    """Migrate a reference to `WarmStartSettings` or `VocabInfo`, if it is one."""
    if name in _VOCABULARIES:
        driver.replace(node, driver.need("VocabInfo", node))
    if name != SETTINGS:
        return
    call = driver.module.parent(node)
    if not isinstance(call, ast.Call) or call.func is not node:
        raise Unsupported("WarmStartSettings is handed on without a call", node)
    bind(call, _SIGNATURE, "WarmStartSettings")
    driver.replace(node, driver.need("WarmStartSettings", node))


def canned_settings(driver: Driver, node: ast.expr, name: str) -> None:
    """Migrate a reference to `WarmStartSettings`, if it is one, for canned Estimators. Raises Unsupported."""
    settings_reference(driver, node, name)
    call = driver.module.parent(node)
    if name == SETTINGS and isinstance(call, ast.Call):
        chosen = bind(call, _SIGNATURE, "WarmStartSettings").get("vars_to_warm_start")
        if isinstance(chosen, (ast.List, ast.Tuple, ast.ListComp)):
            raise Unsupported(
                "`vars_to_warm_start` as a list takes the state of optimizers along; give one pattern", chosen
            )


def start_reference(driver: Driver, node: ast.expr, name: str) -> bool:
    """Migrate a reference to the settings of a warm start for a model of layers; False for other names. Raises Unsupported."""
    if name != SETTINGS and name not in _VOCABULARIES:
        return False
    canned_settings(driver, node, name)
    call = driver.module.parent(node)
    if name != SETTINGS or not isinstance(call, ast.Call):
        return True
    chosen = bind(call, _SIGNATURE, "WarmStartSettings").get("vars_to_warm_start")
    if not (is_none(chosen) or isinstance(chosen, ast.JoinedStr) or _is_text(chosen)):
        raise Unsupported("the pattern of a warm start is not seen", chosen)
    return True


def _is_text(node: ast.expr | None) -> bool:
    """Whether an expression is a string, or begins with one."""
    node = node.left if isinstance(node, ast.BinOp) else node
    return isinstance(node, ast.Constant) and isinstance(node.value, str)

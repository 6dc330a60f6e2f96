"""Annotations that speak of Estimators, where values of other types stand afterwards."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from migrator.normalise.draft.draft import Drafts
from migrator.resolve.symbols import dotted
from migrator.resolve.syntax import AnnotatedAssign
from migrator.rewrite import Change, Replace

from ..estimator_calls.estimator_kinds import KINDS
from ..estimator_calls.estimator_values import PREFIX

if TYPE_CHECKING:
    from migrator.resolve.module import Module

    from ..estimator_calls.file_edits import FileEdits

_SAME = ("RunConfig", "TrainSpec", "EvalSpec", "LatestExporter", "FinalExporter", "BestExporter")
_HELPERS = {
    **{name: name for name in _SAME},
    "Exporter": "LatestExporter",
    "export.ServingInputReceiver": "ServingInputReceiver",
    "export.TensorServingInputReceiver": "TensorServingInputReceiver",
}
"""Vendored classes by the names that they had under `tf.estimator`; all exporters derive from one."""

_OPTIMIZER = re.compile(r"tensorflow\.train\.\w*Optimizer")


def settle_annotations(drafts: Drafts, paths: Iterable[str]) -> None:
    """Let annotations speak of the optimizers of Keras, from which all vendored ones derive."""
    drafts.settle(paths, _of_keras)


def _of_keras(module: Module) -> Iterator[Change]:
    for node, name in module.references():
        if not _OPTIMIZER.fullmatch(name) or not in_annotation(module, node):
            continue
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Attribute):
            yield Replace(node, f"{dotted(node.value.value)}.keras.optimizers.Optimizer")


def annotation_reference(driver: FileEdits, node: ast.expr, name: str) -> bool:
    """Write what a name of the Estimator API in an annotation stands for now; False where it is none, or not known."""
    short = name[len(PREFIX) :] if name.startswith(PREFIX) else ""
    if not short or not in_annotation(driver.module, node):
        return False
    if name in KINDS:
        driver.replace(node, f"{driver.tensorflow()}.keras.Model")
    elif short in _HELPERS:
        driver.replace(node, driver.need(_HELPERS[short], node))
    else:
        return False
    return True


def in_annotation(module: Module, node: ast.AST) -> bool:
    """Whether a node says of what type a parameter, a result or a name is."""
    parent = module.parent(node)
    while parent is not None and not isinstance(node, ast.stmt):
        if isinstance(parent, (ast.arg, ast.AnnAssign, AnnotatedAssign)) and parent.annotation is node:
            return True
        if isinstance(parent, (ast.FunctionDef, ast.AsyncFunctionDef)) and parent.returns is node:
            return True
        node, parent = parent, module.parent(parent)
    return False

"""The Estimators that a program makes: which are known, and which are not migrated yet."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.function.translate import bind
from migrator.normalise.draft.draft import Drafts
from migrator.resolve.module import Module

from ..bridge.graph_heads import own_head
from ..distribute import tpu
from ..distribute.tpu_facts import short_name
from ..estimator_calls.derived_configs import RUN_CONFIG, why_not_derived
from ..estimator_calls.estimator_kinds import KINDS, dialect_of
from ..estimator_calls.estimator_values import ESTIMATOR, Construction
from ..estimator_calls.exporters import OWN as OWN_EXPORTER
from ..estimator_calls.exporters import own_exporter
from .groups import speaks_of_estimators
from .unused_code import inside_unused, unused_spans

if TYPE_CHECKING:
    from migrator.resolve.project import Project

# Classes and functions that make Estimators, beside tf.estimator.Estimator itself.
_KINDS = re.compile(r"(Estimator|Classifier|Regressor|Ranker|Experiment)$|^model_to_estimator$|^learn_runner$")
_NO_MATCH = {
    "BoostedTrees": "boosted trees have no match in Keras, and other libraries for them are other algorithms; "
    "train such a model anew, with TensorFlow Decision Forests for example",
    "Experiment": "this tf.contrib.learn.Experiment is not migrated: first write it as tf.estimator.train_and_evaluate with a "
    "TrainSpec and an EvalSpec, which TensorFlow 1 has from 1.4 on",
}
_OF_LEARN = (
    "first write it with tf.estimator, which TensorFlow 1 has from 1.3 on: fit() is train(), and arrays go in through "
    "tf.estimator.inputs.numpy_input_fn"
)
_SIGNATURE = "model_fn model_dir config params warm_start_from"


def estimators_in(drafts: Drafts, group: list[Module]) -> list[Construction]:
    """The Estimators that the present state of a group makes."""
    return [c for module in group for c in _constructions(drafts.project.modules[module.path], group)]


def _constructions(module: Module, group: list[Module]) -> Iterator[Construction]:
    for node, call, name in _made(module):
        on_tpu = short_name(name) == "TPUEstimator"
        if name == ESTIMATOR or on_tpu:
            try:
                given = bind(call, tpu.ESTIMATOR if on_tpu else _SIGNATURE, "Estimator")
            except Unsupported:
                given = {}
            yield Construction(module, call, given, tpu=on_tpu)
        else:
            yield Construction(module, call, {}, name, *dialect_of(module, node, group))


def _made(module: Module) -> list[tuple[ast.expr, ast.Call, str]]:
    """The calls that make Estimators, with what is called and its name."""
    known: list[tuple[ast.expr, ast.Call, str]] | None = module.memo.get("estimators")
    if known is None:
        known = module.memo["estimators"] = []
        for node, name in module.references() if b"stimator" in module.source else ():
            parent = module.parent(node) if name in KINDS or short_name(name) == "TPUEstimator" else None
            if isinstance(parent, ast.Call) and parent.func is node:
                known.append((node, parent, name))
    return known


def not_yet(drafts: Drafts, module: Module) -> Iterator[tuple[Module, ast.expr, str]]:
    """Estimators of a kind that is not migrated yet: where they are made, and what they are."""
    for node, name in module.references():
        if not speaks_of_estimators(name):
            continue
        if short_name(name) == "TPUEstimator" and isinstance(module.parent(node), ast.Call):
            continue
        parent = module.parent(node)
        short = name.rsplit(".", 1)[-1]
        if isinstance(parent, ast.Call) and name in KINDS:
            continue
        if isinstance(parent, ast.Call) and parent.func is node and _KINDS.search(short):
            what = f"tf.{name.split('.', 1)[1]} is not migrated"
            general = f"{what}: {_OF_LEARN}" if name.startswith("tensorflow.contrib.learn.") else f"{what} yet"
            why = drafts.obstacle(module, node)
            known = _NO_MATCH.get(short[:12], general)
            yield module, node, f"{known}: {why}" if why else known
        elif own_head(module, node, name):
            continue
        elif isinstance(parent, ast.ClassDef) and node in parent.bases and short != "SessionRunHook":
            why = why_not_derived(drafts.project, module, node) if name == RUN_CONFIG else drafts.obstacle(module, node)
            if name == OWN_EXPORTER:
                why = own_exporter(module, node)
            if name in (RUN_CONFIG, OWN_EXPORTER) and why is None:
                continue
            reason = f"a class derived from tf.{name.split('.', 1)[1]} is not migrated yet"
            yield module, node, f"{reason}: {why}" if why else reason


def is_called(project: Project, module: Module, node: ast.AST) -> bool:
    """Whether a place is in code of the program that its Estimators may reach."""
    return inside_unused(module, node, unused_spans(project.modules.values(), module)) is None

"""`export_outputs`: what a SavedModel of the model computes, by signature."""

from __future__ import annotations

import ast
import itertools
from dataclasses import dataclass

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.function.plan import Plan
from migrator.analyse.function.translate import bind, is_none
from migrator.analyse.layers.site import RESERVED
from migrator.analyse.results.outputs import boundary
from migrator.analyse.statements.flow import Leaf
from migrator.analyse.statements.names import reads
from migrator.resolve.syntax import walk

_EXPORT = "tensorflow.estimator.export."
_OUTPUTS = {"PredictOutput": "outputs", "ClassificationOutput": "scores classes", "RegressionOutput": "value"}
_DEFAULT_KEY = "DEFAULT_SERVING_SIGNATURE_DEF_KEY"
PREDICTIONS = "predict_step"
"""The method of a model that gives what `predict` does."""


@dataclass(frozen=True)
class Signature:
    """One entry: its key, the class of the output, and the values; `predictions` if it gives what `predict` gives."""

    key: ast.expr
    kind: str
    values: dict[str, ast.expr]
    predictions: bool


@dataclass(frozen=True)
class Exports:
    """All signatures, the names of the forward pass that they read, and the statements that they need besides."""

    signatures: list[Signature]
    names: list[str]
    leaves: list[Leaf]
    whole: ast.expr | None = None
    """Instead of signatures: the object that makes all of them from the predictions."""


def exports(plan: Plan, classified: bool = True) -> Exports:
    """The signatures of the prediction spec; none if it only has the predictions themselves, served by default.

    Without those for TensorFlow Serving to classify by, if nothing is `classified`.
    """
    node = plan.field("infer", "export_outputs")
    if node is None:
        return Exports([], [], [])
    whole, _ = plan.followed_in(node, plan.specs["infer"].leaf, "infer")
    function = whole.func if isinstance(whole, ast.Call) else None
    if isinstance(function, ast.Attribute) and function.attr in plan.translations.served_whole:
        return Exports([], [], [], function.value)
    entries = _entries(plan, node)
    found = [_signature(plan, key, item, at) for key, item, at in entries]
    if len(found) == 1 and found[0].predictions and is_default(plan, found[0].key):
        return Exports([], [], [])
    if not classified:
        kept = [signature.kind == "PredictOutput" for signature in found]
        found, entries = list(itertools.compress(found, kept)), list(itertools.compress(entries, kept))
    values = [v for signature in found if not signature.predictions for v in signature.values.values()]
    for signature, (_, _, at) in zip(found, entries):
        held = [] if signature.predictions else signature.values.values()
        plan.check_still(set().union(*(reads(v) for v in held)), at, plan.specs["infer"].leaf, "infer")
    needed: set[Leaf] = set()
    for item in values:
        needed |= plan.slice_of(item, "infer")
    leaves = plan.ordered(leaf for leaf in needed if leaf not in plan.call_leaves and not leaf.mode_only)
    if any(plan.sites_in(leaf) for leaf in leaves) or any(id(n) in plan.site_of for v in values for n in walk(v)):
        raise Unsupported("a layer is applied for export_outputs alone", node)
    if any(leaf in plan.tainted for leaf in leaves) or any(plan.labels in reads(value) for value in values):
        raise Unsupported("export_outputs depend on the labels", node)
    names, again = boundary(plan, leaves, values, "infer")
    return Exports(found, names, plan.ordered({*leaves, *again}))


def _entries(plan: Plan, node: ast.expr) -> list[tuple[ast.expr | None, ast.expr, Leaf]]:
    """Keys and values of a dict, also of one that is filled entry by entry, with the statements that they stand in."""
    end = plan.specs["infer"].leaf
    leaves = plan.slicer.reaching(node.id, 1 << 30, "infer")[::-1] if isinstance(node, ast.Name) else []
    value, at = plan.followed_in(node, end, "infer") if len(leaves) < 2 else (None, end)
    if len(leaves) > 1 and isinstance(leaves[0].node, ast.Assign):
        value, at = leaves[0].node.value, leaves[0]
    if not isinstance(value, ast.Dict):
        raise Unsupported("export_outputs are not written as a dict", node)
    entries = [(key, item, at) for key, item in zip(value.keys, value.values)]
    for leaf in leaves[1:]:
        target = leaf.node.targets[0] if isinstance(leaf.node, ast.Assign) else None
        if not isinstance(leaf.node, ast.Assign) or not isinstance(target, ast.Subscript) or leaf.arms or leaf.loops:
            raise Unsupported("export_outputs are not written as a dict", node)
        if len(leaf.node.targets) > 1 or not isinstance(target.value, ast.Name):
            raise Unsupported("export_outputs are not written as a dict", node)
        entries.append((target.slice, leaf.node.value, leaf))
    return entries


def _signature(plan: Plan, key: ast.expr | None, value: ast.expr, at: Leaf) -> Signature:
    call, where = plan.followed_in(value, at, "infer")
    name = plan.module.resolve(call.func) if isinstance(call, ast.Call) else None
    kind = (name or "").replace(_EXPORT, "", 1)
    if key is None or kind not in _OUTPUTS or not isinstance(call, ast.Call):
        raise Unsupported("an entry of export_outputs is none that is known", value)
    given = {n: v for n, v in bind(call, _OUTPUTS[kind], kind).items() if not is_none(v)}
    predictions = plan.field("infer", "predictions")
    same = kind == "PredictOutput" and predictions is not None and "outputs" in given
    return Signature(key, kind, given, same and _same(plan, given["outputs"], where, predictions))


def _same(plan: Plan, value: ast.expr, at: Leaf, predictions: ast.expr | None) -> bool:
    """Whether a value is the predictions of the spec."""
    end = plan.specs["infer"].leaf
    if isinstance(value, ast.Name) and isinstance(predictions, ast.Name) and value.id == predictions.id:
        return plan.slicer.reaching(value.id, at.index, "infer", at) == plan.slicer.reaching(
            value.id, end.index, "infer", end
        )
    return plan.followed_in(value, at, "infer")[0] is plan.followed_in(predictions, end, "infer")[0]


def is_default(plan: Plan, key: ast.expr) -> bool:
    if isinstance(key, ast.Constant):
        return key.value == "serving_default"
    return (plan.module.resolve(key) or "").endswith(_DEFAULT_KEY)


def served_by(plan: Plan, signature: Signature) -> str:
    """The method of a plain model that computes a signature, called as the signature is."""
    if signature.predictions:
        return PREDICTIONS
    if is_default(plan, signature.key):
        return "serve"
    key = str(signature.key.value) if isinstance(signature.key, ast.Constant) else ""
    taken = key in {*RESERVED, "serve"} or key in plan.statics or any(site.attribute == key for site in plan.sites)
    return f"serve_{key}" if taken else key

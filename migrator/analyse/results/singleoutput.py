"""The one tensor of the forward pass that predictions, loss and metrics are computed from: what `call` returns alone."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.layers.objects import may_have_variables, object_of
from migrator.analyse.results.opnames import op_name
from migrator.analyse.results.outputs import boundary
from migrator.analyse.statements.bindingtime import Time
from migrator.analyse.statements.flow import Leaf
from migrator.analyse.statements.names import reads
from migrator.resolve.syntax import walk

if TYPE_CHECKING:
    from migrator.analyse.function.plan import Plan

_DRAWN = re.compile(r"dropout|random|shuffle|multinomial|sampler|py_func|numpy_function|print", re.IGNORECASE)
"""Functions that give another value each time, or do more than to give one."""
_OF_TENSORS = frozenset({"shape", "get_shape", "dtype", "set_shape"})


@dataclass(frozen=True)
class SingleOutput:
    """What `call` returns, as the owner named it, and what becomes of it outside."""

    name: str
    call: tuple[Leaf, ...]
    """The statements that `call` keeps."""
    predictions: ast.expr | None
    """What the prediction spec gives; None where nobody predicts."""
    predicting: tuple[Leaf, ...]
    """The statements between the output and the predictions."""
    reads_features: bool
    """Whether these look into the features as well."""

    @property
    def predicts_alone(self) -> bool:
        """Whether the prediction is the output itself."""
        return isinstance(self.predictions, ast.Name) and self.predictions.id == self.name and not self.predicting


def single_output(plan: Plan) -> SingleOutput | None:
    """The output, where there is such a tensor: of several, the one that is computed last."""
    if plan.fed or plan.absent:
        return None  # predictions return before the rest
    readers = _outside(plan)
    candidates = {name: leaf.index for leaf in plan.call_leaves for name in leaf.kills}
    for name in sorted(candidates, key=lambda name: candidates[name], reverse=True):
        if plan.times.name(name) is Time.DYNAMIC and not _is_structure(plan, name):
            found = _with(plan, name, readers)
            if found is not None:
                return found
    return None


@dataclass(frozen=True)
class _Reader:
    """Statements after the forward pass in one mode, and what they are there for."""

    mode: str
    leaves: frozenset[Leaf]
    results: tuple[ast.expr, ...]


def _outside(plan: Plan) -> list[_Reader]:
    """All that may follow the forward pass, by mode."""
    found = []
    for mode in plan.specs:
        fields = [plan.field(mode, name) for name in ("loss", "eval_metric_ops", "export_outputs")]
        given = tuple(node for node in fields if node is not None)
        leaves = {leaf for leaf in plan.losses if mode in leaf.modes and mode in plan.loss_slices}
        leaves |= plan.metric_slice if mode == "eval" else set()
        found.append(_Reader(mode, frozenset(leaves.union(*(plan.slice_of(node, mode) for node in given))), given))
    if plan.partial_losses:
        names: tuple[ast.expr, ...] = tuple(ast.Name(name, ast.Load()) for name in plan.partial_losses)
        found.append(_Reader("train", frozenset(), names))
    return found


def _with(plan: Plan, name: str, readers: list[_Reader]) -> SingleOutput | None:
    """The division of the forward pass at the tensor of that name, where nothing outside reads another one."""
    call = _needed_for(plan, name)
    moved = [leaf for leaf in plan.forward if leaf not in call and not plan.is_static(leaf)]
    if not all(_may_move(plan, leaf) for leaf in moved):
        return None
    predictions = plan.field("infer", "predictions")
    sliced = plan.prediction_slice - call if predictions is not None else set()
    predicting = {leaf for leaf in sliced if not plan.is_static(leaf) and not leaf.mode_only}
    try:
        for reader in readers:
            leaves = [leaf for leaf in reader.leaves - call if not leaf.mode_only]
            if not set(boundary(plan, leaves, list(reader.results), reader.mode, call)[0]) <= {name}:
                return None
        if predictions is not None:
            read, again = boundary(plan, [*predicting], [predictions], "infer", call)
            if read != [name]:
                return None
            predicting |= again
    except Unsupported:
        return None
    wanted = reads(predictions) if predictions is not None else set()
    wanted |= set().union(*(plan.slicer.inputs(leaf) for leaf in predicting))
    return SingleOutput(
        name, tuple(plan.ordered(call)), predictions, tuple(plan.ordered(predicting)), plan.features in wanted
    )


def _needed_for(plan: Plan, name: str) -> set[Leaf]:
    """The statements of the forward pass that the tensor needs, or that are there for their effect."""
    roots = [leaf for leaf in plan.forward if not leaf.defs or leaf in plan.watched or _is_watched(plan, leaf)]
    found = set(roots)
    for mode in plan.specs:
        found |= plan.slicer.closure({name}, len(plan.flow.leaves), mode)
        for leaf in roots:
            found |= (
                plan.slicer.closure(plan.slicer.inputs(leaf), leaf.index, mode, leaf) if mode in leaf.modes else set()
            )
    return found & set(plan.forward)


def _is_watched(plan: Plan, leaf: Leaf) -> bool:
    """Whether callbacks read the value of an op in a statement while the model trains."""
    calls = (node for node in walk(leaf.node) if isinstance(node, ast.Call))
    return any(op_name(plan.module, call) in plan.translations.watched for call in calls)


def _may_move(plan: Plan, leaf: Leaf) -> bool:
    """Whether a statement may run outside of the forward pass, and more than once: it computes a value of others, the same
    in each mode."""
    if not isinstance(leaf.node, (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.If, ast.For, ast.FunctionDef)):
        return False
    if any(site.layer.inputs is not None or site.layer.late or site.layer.built for site in plan.sites_in(leaf)):
        return False
    heads = [frame.node.test for frame in leaf.frames if isinstance(frame.node, ast.If)]
    if any(plan.modes.mentions(node) for node in (leaf.node, *heads)) or set(plan.modes.names) & leaf.uses:
        return False
    calls = [node for node in walk(leaf.node) if isinstance(node, ast.Call)]
    if any(_applies_layer(plan, call) for call in calls):
        return False
    return not any(_DRAWN.search(plan.module.resolve(call.func) or ast.unparse(call.func)) for call in calls)


def _applies_layer(plan: Plan, call: ast.Call) -> bool:
    """Whether a call applies a layer that an object of the program is, which has its weights from then on."""
    held = object_of(plan, call.func)
    return call in plan.lookups or (held is not None and not held.layer.weight and may_have_variables(held))


def _is_structure(plan: Plan, name: str) -> bool:
    """Whether a name holds, as far as is seen, several tensors rather than one."""
    for leaf in plan.definitions(name):
        value = leaf.node.value if isinstance(leaf.node, ast.Assign) else None
        if isinstance(value, (ast.Dict, ast.List, ast.Tuple, ast.DictComp, ast.ListComp)) or name not in leaf.kills:
            return True
        if (
            isinstance(value, ast.Call)
            and isinstance(value.func, ast.Name)
            and value.func.id in ("dict", "list", "zip")
        ):
            return True
    return any(_as_structure(plan, node) for node in _reading(plan, name))


def _reading(plan: Plan, name: str) -> Iterator[ast.Name]:
    for leaf in plan.flow.leaves:
        for node in walk(leaf.node) if name in leaf.uses else ():
            if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load):
                yield node


def _as_structure(plan: Plan, node: ast.Name) -> bool:
    """Whether a tensor would not be read so: ``state.h``, ``outputs["x"]``, ``outputs[0]``, ``a, b = outputs``."""
    parent = plan.module.parent(node)
    if isinstance(parent, ast.Attribute):
        return parent.attr not in _OF_TENSORS
    if isinstance(parent, ast.Subscript) and parent.value is node:
        return isinstance(parent.slice, ast.Constant)
    if isinstance(parent, ast.Assign) and parent.value is node:
        return any(isinstance(target, (ast.Tuple, ast.List)) for target in parent.targets)
    return isinstance(parent, ast.Starred) or isinstance(parent, (ast.For, ast.comprehension)) and parent.iter is node

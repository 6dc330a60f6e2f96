"""Features that only training and evaluation look up: `predict` and servers may well be given none by these names.

Nor may a training have what metrics need of evaluations, where the model_fn makes them there alone; Keras computes them in
training as well.
"""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.results.fedlabels import returns_predictions
from migrator.analyse.statements.bindingtime import Time
from migrator.analyse.statements.flow import Leaf
from migrator.normalise.draft.arguments import parameters
from migrator.resolve.calls import bind, is_literal
from migrator.resolve.module import Module
from migrator.resolve.project import Project
from migrator.resolve.syntax import walk

if TYPE_CHECKING:
    from migrator.analyse.function.plan import Plan
    from migrator.emit.writer import Writer

_RESHAPE = "tensorflow.reshape"
_PREDICTS = re.compile(rb"\.predict\(|[Ee]xport")


def without_absent(plan: Plan, leaves: set[Leaf]) -> set[Leaf]:
    """The statements of `leaves` that need no feature which predictions do not look up."""
    if plan.field("infer", "predictions") is None:
        return leaves
    absent = _readers(plan, plan.flow.leaves)
    kept = set()
    for leaf in leaves:
        needed = {leaf}
        for mode in leaf.modes:
            needed |= plan.slicer.closure(plan.slicer.inputs(leaf), leaf.index, mode, leaf)
        if not needed & set(absent):
            kept.add(leaf)
    return kept


def absent_keys(plan: Plan) -> list[str]:
    """The features that only the rest of a forward pass looks up, from which predictions return early.

    Empty where they look up all of them, or where the program makes no predictions. Raises Unsupported where something
    that predictions do without stands before what they need.
    """
    if plan.field("infer", "predictions") is None:
        return []
    found = _readers(plan, plan.call_leaves)
    predicts = any(_PREDICTS.search(module.source) for module in plan.sublayers.project.modules.values())
    if not found or not predicts:
        return []
    end = plan.specs["infer"].leaf
    for leaf, key in found.items():
        if leaf.index < end.index or end.modes != {"infer"}:
            raise Unsupported(f'layers need the feature "{key}", which predictions are made without', leaf.node)
    rest = {frame.node for leaf in plan.call_leaves if leaf.index > end.index for frame in leaf.frames}
    for leaf in plan.call_leaves:
        if leaf.index < end.index and rest & {frame.node for frame in leaf.frames}:
            raise Unsupported("predictions end in the middle of a loop or a condition", leaf.node)
    given = _given(plan)
    return sorted({key for leaf in found for key in keys_of(plan, leaf.node)} - given)


def evaluated_keys(plan: Plan, leaves: Iterable[Leaf], values: Iterable[ast.AST]) -> list[str]:
    """The features that metrics look up, in some statements and values, and no training."""
    trained = {key for leaf in plan.flow.leaves if "train" in leaf.modes for key in keys_of(plan, leaf.node)}
    read = {key for node in (*(leaf.node for leaf in leaves), *values) for key in keys_of(plan, node)}
    return sorted(read - trained)


def groups_rows(plan: Plan, leaves: Iterable[Leaf]) -> bool:
    """Whether statements of evaluations alone cut batches into groups, as ``tf.reshape(scores, [-1, 5])`` may: batches of a
    training may not have whole ones."""
    calls = (n for leaf in leaves if "train" not in leaf.modes for n in walk(leaf.node) if isinstance(n, ast.Call))
    for call in calls:
        if plan.module.resolve(call.func) == _RESHAPE:
            shape = (
                call.args[1] if len(call.args) > 1 else next((k.value for k in call.keywords if k.arg == "shape"), None)
            )
            if isinstance(shape, (ast.List, ast.Tuple)) and len(shape.elts) > 1 and is_literal(shape.elts[0], -1):
                return True
    return False


def early_return(plan: Plan, writer: Writer) -> str:
    """The test for predictions without the features that the rest of the forward pass needs; empty where there are none."""
    if plan.fed:
        return f"{plan.labels} is None" if returns_predictions(plan) else ""
    if not plan.absent:
        return ""
    features = writer.names.get(plan.features, plan.features)
    keys = [f'"{key}"' for key in plan.absent]
    test = f"{keys[0]} not in {features}" if len(keys) == 1 else f"not {{{', '.join(keys)}}} <= {features}.keys()"
    condition = _condition(plan)
    if condition is None:
        return test
    text = writer.text(condition.test)
    return f"({text}) and {test}" if isinstance(condition.test, (ast.BoolOp, ast.IfExp)) else f"{text} and {test}"


def _condition(plan: Plan) -> ast.If | None:
    """What decides whether the model needs these features at all. Raises Unsupported where that is not one condition."""
    found = list(_readers(plan, plan.call_leaves))
    conditions = {tuple(frame for frame in leaf.arms if not isinstance(frame.node, ast.For)) for leaf in found}
    if conditions == {()}:
        return None
    first = conditions.pop()
    if conditions or len(first) != 1 or not isinstance(first[0].node, ast.If) or first[0].arm != "body":
        raise Unsupported(
            "features that predictions are made without are looked up under several conditions", found[0].node
        )
    if plan.times.of(first[0].node.test) is not Time.STATIC:
        raise Unsupported("data decide whether a feature is looked up that predictions are made without", found[0].node)
    return first[0].node


def _readers(plan: Plan, leaves: Iterable[Leaf]) -> dict[Leaf, str]:
    """The statements that look up a feature which nothing of the predictions looks up, and one of those features."""
    given = _given(plan)
    return {
        leaf: key for leaf in leaves if "infer" not in leaf.guard for key in sorted(keys_of(plan, leaf.node) - given)
    }


def _given(plan: Plan) -> set[str]:
    """The keys that predictions look up."""
    end = plan.specs["infer"]
    known = [*(leaf.node for leaf in plan.prediction_slice), end.leaf.node, *end.fields.values()]
    return {key for node in known for key in keys_of(plan, node)}


def keys_of(plan: Plan, node: ast.AST) -> set[str]:
    """The keys of features that a statement looks up, and functions of the program that it hands them to."""
    return _keys(plan.sublayers.project, plan.module, plan.features, node, frozenset())


def _keys(project: Project, module: Module, features: str, node: ast.AST, seen: frozenset[int]) -> set[str]:
    found = set()
    for part in walk(node):
        if isinstance(part, ast.Subscript) and _is(part.value, features):
            if isinstance(part.slice, ast.Constant) and isinstance(part.slice.value, str):
                found.add(part.slice.value)
        elif isinstance(part, ast.Call) and any(_is(value, features) for value in _handed(part)):
            definition = project.definition(module, part.func)
            if definition is None or not isinstance(definition.node, ast.FunctionDef) or id(definition.node) in seen:
                continue
            given = bind(part, parameters(definition.node)) or {}
            names = [name for name, value in given.items() if _is(value, features)]
            inside = seen | {id(definition.node)}
            for name, statement in itertools.product(names, definition.node.body):
                found |= _keys(project, definition.module, name, statement, inside)
    return found


def _handed(call: ast.Call) -> list[ast.expr]:
    return [*call.args, *(keyword.value for keyword in call.keywords)]


def _is(node: ast.expr, name: str | None) -> bool:
    return isinstance(node, ast.Name) and node.id == name

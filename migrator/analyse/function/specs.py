"""Reads the specs that a model_fn returns: which fields they have in which mode, their Scaffolds included."""

from __future__ import annotations

import ast

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.function.plan import Plan, Spec
from migrator.analyse.function.translate import Value, bind, is_none
from migrator.analyse.statements.conditions import choices
from migrator.analyse.statements.flow import Leaf
from migrator.analyse.statements.modes import MODES
from migrator.analyse.statements.names import reads
from migrator.analyse.training.spec_hooks import FIELDS
from migrator.analyse.variables.averages import restores_averages
from migrator.resolve.module import Module
from migrator.resolve.syntax import walk

SPEC = "tensorflow.estimator.EstimatorSpec"
SPEC_FIELDS = (
    "mode predictions loss train_op eval_metric_ops export_outputs training_chief_hooks training_hooks scaffold "
    "evaluation_hooks prediction_hooks"
)


def read_specs(plan: Plan) -> dict[str, Spec]:
    found: dict[str, Spec] = {}
    for leaf in plan.flow.leaves:
        if not isinstance(leaf.node, ast.Return):
            continue
        for mode in sorted(leaf.modes):
            call, at = plan.followed_in(leaf.node.value, leaf, mode)
            if not isinstance(call, ast.Call) or plan.module.resolve(call.func) != SPEC:
                raise Unsupported("the returned value is not seen to be an EstimatorSpec", leaf.node)
            fields = bind(call, SPEC_FIELDS, "EstimatorSpec")
            for name in list(fields):
                if name == "scaffold":
                    with plan.obstacles:
                        _scaffolds(plan, fields.pop(name), at, mode)
                    continue
                value = plan.followed_in(fields[name], at, mode)[0]
                if is_none(value) or FIELDS.get(name, mode) != mode:
                    del fields[name]
            found.setdefault(mode, Spec(at, fields))
    if plan.flow.falls_through:
        missing = ", ".join(m for m in MODES if m in plan.flow.falls_through)
        if not found:
            raise Unsupported("no EstimatorSpec is returned", plan.function)
        for mode in MODES:
            if mode in plan.flow.falls_through and mode in found:
                raise Unsupported(f"the function may end without a spec in mode {missing}", plan.function)
    return found


def _scaffolds(plan: Plan, node: ast.expr, at: Leaf, mode: str) -> None:
    """Keep what the Scaffold of the training says, or one of several; the others say nothing that matters."""
    for choice in choices(plan, node, at, mode, "a Scaffold"):
        if is_none(choice.node):
            continue
        if restores_averages(plan, choice.node, choice.at, mode):
            plan.averaged[mode] = choice
            continue
        found = _scaffold(plan, choice.node, choice.at, mode)
        if mode == "train" and found:
            plan.config_fields.append((choice.conditions, found))


def _scaffold(plan: Plan, node: ast.expr, at: Leaf, mode: str) -> dict[str, Value]:
    """Fields of the run configuration that a Scaffold sets. Raises Unsupported."""
    return plan.translations.scaffold(
        node, plan.module.resolve, lambda part: plan.followed_in(part, at, mode)[0] or part
    )


def spec_names(module: Module, function: ast.FunctionDef) -> frozenset[str]:
    """Names that losses, hooks and Scaffolds of specs are read from."""
    specs = (n for n in walk(function) if isinstance(n, ast.Call) and module.resolve(n.func) == SPEC)
    given = [k.value for call in specs for k in call.keywords if k.arg in FIELDS or k.arg in ("loss", "scaffold")]
    return frozenset(name for value in given for name in reads(value))

"""Metrics that a program computes from the values of others: ``(2 * p * r / (p + r), tf.group(p_op, r_op))``."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.function.plan import Plan
from migrator.analyse.results.computing import EFFECTS, only_computes
from migrator.analyse.statements.bindingtime import Time
from migrator.analyse.statements.flow import Leaf
from migrator.analyse.statements.names import reads
from migrator.resolve.syntax import walk


@dataclass
class DerivedMetric:
    """An entry of `eval_metric_ops` whose value follows from those of the metrics that the leaves `parts` make."""

    key: str
    value: ast.expr
    leaves: list[Leaf]
    """The statements that compute the value."""
    parts: list[Leaf]
    skipped: set[Leaf] = field(default_factory=set)
    """Statements that go: those of the update, too."""


def derived_metric(plan: Plan, key: str, pair: ast.Tuple, at: Leaf) -> DerivedMetric:
    """The entry for a pair of value and update that no one metric makes. Raises Unsupported."""
    if len(pair.elts) != 2 or at.loops or at.arms:
        raise Unsupported(f"the metric `{key}` is none that is known", pair)
    value, update = pair.elts
    parts, leaves = _reached(plan, key, value, at)
    updated, others = _reached(plan, key, update, at)
    for leaf in parts:
        name = value_name(leaf)
        if name is None or not (leaf in updated and _runs_update(plan, leaf, update, others)):
            raise Unsupported(f"the update of the metric `{key}` does not run those of its parts", update)
        if any(update_name(leaf) in reads(node) for node in (value, *(other.node for other in leaves))):
            raise Unsupported(f"the value of the metric `{key}` is that of an update", value)
    return DerivedMetric(key, value, leaves, parts, {*leaves, *others})


def value_name(leaf: Leaf) -> str | None:
    """The name of the value, or of the pair, of the metric that a statement makes."""
    names = _names(leaf)
    return names[0] if names else None


def update_name(leaf: Leaf) -> str | None:
    """The name of the update of the metric that a statement makes; None where the pair has one name."""
    names = _names(leaf)
    return names[1] if len(names) == 2 else None


def _names(leaf: Leaf) -> list[str]:
    target = leaf.node.targets[0] if isinstance(leaf.node, ast.Assign) and len(leaf.node.targets) == 1 else None
    elements = target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target]
    names = [element.id for element in elements if isinstance(element, ast.Name)]
    return names if len(names) == len(elements) <= 2 else []


def _reached(plan: Plan, key: str, node: ast.expr, at: Leaf) -> tuple[list[Leaf], list[Leaf]]:
    """The leaves that make metrics which an expression reads, and those in between. Raises Unsupported."""
    parts: set[Leaf] = set()
    between: set[Leaf] = set()
    stack: list[tuple[ast.AST, Leaf]] = [(node, at)]
    while stack:
        found, where = stack.pop()
        _check(plan, key, found)
        heads = [item.context_expr for scope in where.scopes for item in scope.items] if where is not at else []
        for name in sorted(reads(found).union(*map(reads, heads))):
            if name in (plan.features, plan.labels) or plan.is_schedule(name):
                raise Unsupported(f"the metric `{key}` is computed from tensors, not from metrics alone", node)
            for leaf in plan.slicer.reaching(name, where.index, "eval", where):
                if plan.metric_call(leaf) is not None:
                    parts.add(leaf)
                elif plan.time(leaf) > Time.MODE and leaf not in between:
                    if leaf.arms or not isinstance(leaf.node, ast.Assign) or plan.sites_in(leaf):
                        raise Unsupported(f"the metric `{key}` is computed under a condition or by a layer", leaf.node)
                    between.add(leaf)
                    stack.append((leaf.node, leaf))
    return plan.ordered(parts), plan.ordered(between)


def _check(plan: Plan, key: str, node: ast.AST) -> None:
    """Refuse calls that do more than to compute a value."""
    for call in walk(node):
        if not isinstance(call, ast.Call):
            continue
        name = plan.module.resolve(call.func) or ""
        last = name.rpartition(".")[2]
        builtin = isinstance(call.func, ast.Name) and call.func.id in (
            "float",
            "int",
            "len",
            "list",
            "tuple",
            "max",
            "min",
        )
        if not name and only_computes(plan.sublayers.project, plan.module, call, plan.translations):
            continue
        if name in plan.translations.metrics or last.startswith(EFFECTS) or not (name or builtin):
            raise Unsupported(f"the metric `{key}` is none that is known", call)


def _runs_update(plan: Plan, part: Leaf, update: ast.expr, others: list[Leaf]) -> bool:
    """Whether an update, or a statement that it needs, reads the update of a metric."""
    name, own = value_name(part), update_name(part)
    for node in _read_by(update, others):
        for read in walk(node):
            if isinstance(read, ast.Name) and read.id == own:
                return True
            if own is None and isinstance(read, ast.Name) and read.id == name:
                parent = plan.module.parent(read)
                index = parent.slice if isinstance(parent, ast.Subscript) else None
                if index is None or (isinstance(index, ast.Constant) and index.value == 1):
                    return True
    return False


def _read_by(update: ast.expr, others: list[Leaf]) -> Iterator[ast.AST]:
    yield update
    for leaf in others:
        yield leaf.node
        yield from (item.context_expr for scope in leaf.scopes for item in scope.items)

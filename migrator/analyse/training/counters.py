"""Variables of the program that its train op counts by, and train ops that count the global step in some turns only."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.statements.flow import Leaf
from migrator.analyse.training.conditionalsteps import arm_of, condition_of
from migrator.analyse.training.trainways import GROUP, same_value
from migrator.resolve.syntax import walk

if TYPE_CHECKING:
    from migrator.analyse.function.plan import Plan
    from migrator.analyse.training.sums import Change
    from migrator.analyse.training.trainways import Part


def check_counters(plan: Plan, way: Sequence[Part], before: Callable[[Leaf], Sequence[Part]]) -> None:
    """Refuse variables that count unless each gets one value in a step, and is read first or behind what waits for that."""
    changes = [part.change for part in way if part.change is not None and part.change.counter is not None]
    for change in changes:
        made, same = change.counter, [other for other in changes if other.counter is change.counter]
        if len(same) > 1:
            raise Unsupported("a variable gets several values in one step", same[1].node)
        for leaf in plan.flow.leaves:
            if leaf.index <= change.at.index or "train" not in leaf.modes:
                continue
            if any(made in plan.slicer.reaching(n, leaf.index, "train", leaf) for n in plan.slicer.inputs(leaf)):
                if all(part.change is None or part.change.node is not change.node for part in before(leaf)):
                    raise Unsupported("a variable is read, and is not seen to have got its value by then", leaf.node)


def steps_of(plan: Plan, way: Sequence[Part], ways: Sequence[Sequence[Part]], condition: ast.If | None) -> int:
    """How often the train op itself counts the global step where it runs the parts of one of its ways."""
    steps = 0
    for part in way:
        if part.counted is not None:
            if condition is None or not _is_condition(plan, part.counted.condition, part.counted.at, condition):
                raise Unsupported("the step counts in some turns only, which are not those of an optimizer", part.op)
            arms = _trained([way], condition) or {"body", "orelse"} - _trained(ways, condition)
            if arms != {part.counted.arm}:
                continue
        steps += part.advances is not None
    return steps


def _trained(ways: Sequence[Sequence[Part]], condition: ast.If) -> set[str | None]:
    """The arms of a condition in which optimizers take a step."""
    return {arm_of(part.update.at, condition) for way in ways for part in way if part.update is not None}


def _is_condition(plan: Plan, node: ast.expr, at: Leaf, condition: ast.If) -> bool:
    """Whether a value is what a condition asks."""
    asked = condition_of(plan, condition)
    inside = next(leaf for leaf in plan.flow.leaves if arm_of(leaf, condition))
    return asked is not None and same_value(plan, node, at, asked, inside)


def is_read(plan: Plan, change: Change) -> bool:
    """Whether the program reads the value that a variable gets, by the name of the op that gives it."""
    statement = change.at.node
    if change.counter is None or not isinstance(statement, ast.Assign) or statement.value is not change.node:
        return False
    for leaf in plan.flow.leaves:
        for name in change.at.defs & leaf.uses:
            if change.at in plan.slicer.reaching(name, leaf.index, "train", leaf):
                names = (node for node in walk(leaf.node) if isinstance(node, ast.Name) and node.id == name)
                if any(isinstance(node.ctx, ast.Load) and not _only_runs(plan, node) for node in names):
                    return True
    return False


def _only_runs(plan: Plan, node: ast.AST) -> bool:
    """Whether an op is only put into lists and groups, and returned or named there."""
    above = plan.module.parent(node)
    while isinstance(above, (ast.List, ast.Tuple, ast.Starred)) or (
        isinstance(above, ast.Call) and plan.module.resolve(above.func) == GROUP
    ):
        above = plan.module.parent(above)
    return isinstance(above, (ast.Return, ast.Expr, ast.Assign, ast.keyword))

"""Train ops under a ``tf.cond``: an optimizer takes a step in some steps only, or several optimizers take turns.

The preparation writes such an op as an `if` whose test is the call of a mark (see `TAKEN`).
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.statements.flow import Leaf
from migrator.analyse.statements.names import reads

if TYPE_CHECKING:
    from migrator.analyse.function.plan import Plan
    from migrator.analyse.training.trainways import Part
    from migrator.analyse.training.updates import Update

TAKEN = "tensorflow.cond.taken"
"""The mark: a function of the condition that no TensorFlow has."""


def condition_of(plan: Plan, node: ast.AST) -> ast.expr | None:
    """What a ``tf.cond`` that became an `if` asks; None for other statements."""
    test = node.test if isinstance(node, ast.If) else None
    if isinstance(test, ast.Call) and plan.module.resolve(test.func) == TAKEN:
        return test.args[0]
    return None


def conditional(plan: Plan, ways: Sequence[Sequence[Part]]) -> ast.If | None:
    """The one condition that decides which updates run; None if none does. Raises Unsupported for more than that."""
    updates = {part.update.call: part.update for way in ways for part in way if part.update is not None}
    arms = {call: [frame.node for frame in update.at.arms] for call, update in updates.items()}
    tests = {call: [node for node in nodes if condition_of(plan, node) is not None] for call, nodes in arms.items()}
    found = {node for nodes in tests.values() for node in nodes}
    if not found:
        return None
    condition = found.pop()
    inner = any(nodes and arms[call][-1] is not condition for call, nodes in tests.items())
    if found or inner or (len(ways) != 2 and all(tests.values())):
        raise Unsupported("updates under several conditions are not migrated yet", next(iter(updates)))
    assert isinstance(condition, ast.If)
    return condition


def check_sums(plan: Plan, way: Sequence[Part], before: Callable[[Leaf], Sequence[Part]]) -> None:
    """Refuse sums of gradients unless what is run is ordered: they are added to, applied, and cleared after that.

    `before` tells what the control dependencies around a statement run.
    """
    changes = [part.change for part in way if part.change is not None]
    updates = [part.update for part in way if part.update is not None]
    for change in changes:
        if change.counter is not None:
            continue
        done = before(change.at) if not change.sums else ()
        if not change.sums and any(all(not is_same(part.update, update) for part in done) for update in updates):
            raise Unsupported("weights get other values, and the step is not seen to come before", change.node)
    for sums in {change.sums for change in changes if change.sums}:
        adds = [c for c in changes if c.sums == sums and not c.clears]
        clears = [c for c in changes if c.sums == sums and c.clears]
        readers = [leaf for update in updates for leaf in readers_of(plan, update, sums)]
        for change in clears:
            done = before(change.at)
            if not readers or any(all(not is_same(part.update, update) for part in done) for update in updates):
                raise Unsupported("sums of gradients are cleared, and the step is not seen to come before", change.node)
        for leaf in readers:
            done = before(leaf)
            for change in adds:
                if all(part.change is None or part.change.node is not change.node for part in done):
                    raise Unsupported("sums of gradients are read, and are not seen to be complete by then", leaf.node)


def is_same(one: Update | None, other: Update) -> bool:
    """Whether two updates are the same op."""
    return one is not None and one.call is other.call


def readers_of(plan: Plan, update: Update, sums: str) -> list[Leaf]:
    """The statements by which an update reads sums."""
    names = reads(list(update.arguments().values()))
    leaves = {update.at, *plan.slicer.closure(names, update.at.index, "train", update.at)}
    making = plan.sums[sums].leaves
    return [leaf for leaf in leaves if leaf not in making and sums in reads(leaf.node)]


def arm_of(leaf: Leaf, condition: ast.If) -> str | None:
    """The arm of the condition that a statement stands in."""
    return next((frame.arm for frame in leaf.frames if frame.node is condition), None)


def check_names(plan: Plan, leaves: Sequence[Leaf], condition: ast.If) -> None:
    """Refuse statements of one arm that give another value to a name that they read: the arm becomes a function."""
    for arm in ("body", "orelse"):
        inside = [leaf for leaf in leaves if arm_of(leaf, condition) == arm]
        own = set().union(*(leaf.defs for leaf in inside))
        for leaf in inside:
            for name in sorted(own & plan.slicer.inputs(leaf)):
                if any(source not in inside for source in plan.slicer.reaching(name, leaf.index, "train", leaf)):
                    raise Unsupported(f"`{name}` gets another value in one turn of the train op", leaf.node)

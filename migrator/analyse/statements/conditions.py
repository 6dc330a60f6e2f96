"""What a value is under which static conditions: ``[hook] if FLAGS.log else None``, lists that an `if` adds to."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Union

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.function.translate import is_empty
from migrator.analyse.statements.bindingtime import Time
from migrator.analyse.statements.flow import Leaf

if TYPE_CHECKING:
    from migrator.analyse.function.body import Body

_OTHER = {"body": "orelse", "orelse": "body"}


@dataclass(frozen=True)
class Condition:
    """One arm of a statement or an expression with `if`."""

    node: Union[ast.If, ast.IfExp]
    arm: str
    """``body`` or ``orelse``."""
    test: ast.expr = field(compare=False)
    """What decides, without what the mode does."""
    at: Leaf = field(compare=False)
    """A statement below or with the test."""

    def opposite(self) -> Condition:
        """The other arm."""
        return replace(self, arm=_OTHER[self.arm])


Conditions = tuple[Condition, ...]
"""What holds all at once, outermost first."""


@dataclass(frozen=True)
class Choice:
    """An expression, where it stands, and under which conditions it is the value or a part of it."""

    node: ast.expr
    at: Leaf
    conditions: Conditions = ()

    def under(self, conditions: Conditions) -> Choice:
        """The same, under further conditions."""
        return replace(self, conditions=conditions + tuple(c for c in self.conditions if c not in conditions))


def conditions_of(body: Body, leaf: Leaf, mode: str, what: str) -> Conditions:
    """The conditions around a statement in `mode`. Raises Unsupported in a loop."""
    if leaf.loops:
        raise Unsupported(f"{what} is made in a loop", leaf.node)
    found = []
    for frame in leaf.arms:
        assert isinstance(frame.node, ast.If) and not isinstance(frame.node, ast.For)
        if body.modes.evaluate(frame.node.test, mode) is None:
            found.append(Condition(frame.node, frame.arm, body.modes.settled(frame.node.test, mode), leaf))
    return tuple(found)


def overwritten(choices: list[Choice], conditions: Conditions) -> list[Choice]:
    """What is left of earlier values where another one takes their place under conditions. Raises Unsupported."""
    left = []
    for choice in choices:
        if any(condition.opposite() in choice.conditions for condition in conditions):
            left.append(choice)
            continue
        more = [condition for condition in conditions if condition not in choice.conditions]
        if len(more) > 1:
            raise Unsupported("a value that conditions in each other replace is not followed", choice.node)
        if more:
            left.append(choice.under((*choice.conditions, more[0].opposite())))
    return left


def choices(body: Body, node: ast.expr, at: Leaf, mode: str, what: str) -> list[Choice]:
    """What an expression may be, through names that statements give a value, some of them under conditions.

    Raises Unsupported in a loop.
    """
    if isinstance(node, ast.Name):
        steps = body.slicer.reaching(node.id, at.index, mode, at)[::-1]
        values = [step.node.value for step in steps if isinstance(step.node, ast.Assign) and len(step.kills) == 1]
        if not steps or len(values) < len(steps):
            return [Choice(node, at)]
        found: list[Choice] = []
        for step, value in zip(steps, values):
            around = conditions_of(body, step, mode, what)
            found = overwritten(found, around)
            found += [choice.under(around) for choice in choices(body, value, step, mode, what)]
        return found
    arms = either(body, node, at, mode)
    if arms is None:
        return [Choice(node, at)]
    return [c.under(conditions) for arm, conditions in arms for c in choices(body, arm, at, mode, what)]


def either(body: Body, node: ast.expr, at: Leaf, mode: str) -> list[tuple[ast.expr, Conditions]] | None:
    """The two arms of ``a if test else b``, or of ``a or []``; None for other expressions."""
    if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.Or) and len(node.values) == 2:
        return [(node.values[0], ())] if is_empty(node.values[1]) else None
    if not isinstance(node, ast.IfExp):
        return None
    if is_empty(node.orelse) and isinstance(node.test, ast.Name) and ast.dump(node.test) == ast.dump(node.body):
        return [(node.body, ())]  # `hooks if hooks else None`
    known = body.modes.evaluate(node.test, mode)
    if known is not None:
        return [(node.body if known else node.orelse, ())]
    condition = Condition(node, "body", body.modes.settled(node.test, mode), at)
    return [(node.body, (condition,)), (node.orelse, (condition.opposite(),))]


def check_static(body: Body, conditions: Conditions, what: str) -> None:
    """Refuse conditions that something else than what is known when the model is built decides."""
    for condition in conditions:
        if body.times.of(condition.test) is not Time.STATIC:
            raise Unsupported(f"{what} depends on a condition that is known only later", condition.test)

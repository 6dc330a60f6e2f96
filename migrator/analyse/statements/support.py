"""What a generated function repeats of the statements that are known when the model is built."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from migrator.analyse.statements.bindingtime import Time

if TYPE_CHECKING:
    from migrator.analyse.function.body import Body
    from migrator.analyse.statements.flow import Leaf


def static_support(
    plan: Body, names: Iterable[str], copied: Callable[[str], bool]
) -> tuple[set[Leaf], dict[str, None]]:
    """Static leaves that must be written to have `names`, and the names to be kept on the model instead."""
    leaves: set[Leaf] = set()
    kept: dict[str, None] = {}
    stack = sorted(names, reverse=True)
    seen: set[str] = set()
    while stack:
        name = stack.pop()
        if name in seen or not plan.is_local(name) or name in plan.modes.names:
            continue
        seen.add(name)
        if plan.times.name(name) is not Time.STATIC:
            continue
        if not copied(name):
            kept.setdefault(name)
            continue
        for leaf in plan.definitions(name):
            leaves.add(leaf)
            stack.extend(plan.slicer.inputs(leaf))
    return leaves, kept

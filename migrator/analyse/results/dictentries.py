"""Entries of the dict of predictions that loss and metrics read: ``predictions["class"]`` stands for what was put there."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from migrator.analyse.function.planning import drop_unread
from migrator.analyse.statements.names import reads
from migrator.resolve.syntax import walk

if TYPE_CHECKING:
    from migrator.analyse.function.plan import Plan
    from migrator.analyse.statements.flow import Leaf


def open_entries(plan: Plan, name: str) -> None:
    """Let statements read the values of a dict that is written down at once, instead of its entries."""
    made = plan.definitions(name)
    value = made[0].node.value if len(made) == 1 and isinstance(made[0].node, ast.Assign) else None
    if not isinstance(value, ast.Dict) or made[0].arms or name not in made[0].kills:
        return
    items = {
        key.value: item
        for key, item in zip(value.keys, value.values)
        if isinstance(key, ast.Constant) and key.value is not None
    }
    for leaf in plan.flow.leaves:
        if name not in leaf.uses or leaf is made[0]:
            continue
        nodes = [node for node in walk(leaf.node) if isinstance(node, ast.Name) and node.id == name]
        found = [_entry(plan, node) for node in nodes]
        entries = {entry: items[key] for entry, key in found if key in items}
        entries = {entry: item for entry, item in entries.items() if _still(plan, item, made[0], leaf)}
        plan.opened_entries.update(entries)
        leaf.uses = (leaf.uses - ({name} if len(entries) == len(nodes) else set())) | reads(entries.values())
    plan.losses.discard(made[0])  # but where something still reads the dict as a whole
    drop_unread(plan)


def _entry(plan: Plan, node: ast.Name) -> tuple[ast.AST, object]:
    """The expression that reads an entry of a dict by a literal key, and the key; None where another is read."""
    parent = plan.module.parent(node)
    if isinstance(parent, ast.Subscript) and parent.value is node and isinstance(parent.ctx, ast.Load):
        if isinstance(parent.slice, ast.Constant):
            return parent, parent.slice.value
    return node, None


def _still(plan: Plan, value: ast.expr, made: Leaf, leaf: Leaf) -> bool:
    """Whether the names in a value of the dict mean the same where an entry is read."""
    return all(
        set(plan.slicer.reaching(name, made.index, mode, made))
        == set(plan.slicer.reaching(name, leaf.index, mode, leaf))
        for name in reads(value)
        for mode in leaf.modes & made.modes
    )

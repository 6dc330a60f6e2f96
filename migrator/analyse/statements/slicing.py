"""Which statements of a body the value of a name depends on: slices, with the control around them."""

from __future__ import annotations

import ast
import bisect
from collections.abc import Iterable

from migrator.analyse.statements.flow import Flow, Leaf
from migrator.analyse.statements.modes import ALL_MODES


class Slicer:
    """Which leaves a value depends on."""

    def __init__(self, flow: Flow) -> None:
        self._flow = flow

    def reaching(self, name: str, before: int, mode: str | None, at: Leaf | None = None) -> list[Leaf]:
        """Leaves that may have given `name` its value just before leaf number `before`, latest first."""
        numbers, leaves = self._flow.giving(name)
        found: list[Leaf] = []
        last = bisect.bisect_left(numbers, before)
        for index in range(last - 1, -1, -1):
            leaf = leaves[index]
            if mode is None or mode in leaf.modes:
                found.append(leaf)
                if name in leaf.kills and self._certain(leaf, at, mode):
                    break
        around = at.loops[:1] if at is not None else ()
        if around:
            for leaf in leaves[last:]:
                if leaf.loops[:1] == around and (mode is None or mode in leaf.modes):
                    found.append(leaf)
        return found

    @staticmethod
    def _certain(leaf: Leaf, at: Leaf | None, mode: str | None) -> bool:
        """Whether `leaf` has run whenever `at` (None: the end of the body) runs, in `mode` (None: in any)."""
        if mode is None and not leaf.modes >= (at.modes if at is not None else ALL_MODES):
            return False
        return all(at is not None and frame in at.frames for frame in leaf.arms)

    def closure(self, names: Iterable[str], before: int, mode: str | None, at: Leaf | None = None) -> set[Leaf]:
        """All leaves that the values of `names` before leaf `before` depend on, control included."""
        return Closure(self, mode).grow(names, before, at)

    @staticmethod
    def inputs(leaf: Leaf) -> set[str]:
        """Names whose values a leaf needs, the heads of its frames included."""
        needed = set(leaf.uses)
        for frame in leaf.frames:
            needed |= frame.reads()
        return needed


class Closure:
    """What one value after another depends on in a mode; each statement is looked at once."""

    def __init__(self, slicer: Slicer, mode: str | None) -> None:
        self._slicer, self._mode = slicer, mode
        self._found: set[Leaf] = set()
        self._seen: set[tuple[str, int]] = set()

    def of(self, leaf: Leaf) -> set[Leaf]:
        """What the inputs of a leaf depend on, but for what was found before."""
        return self.grow(self._slicer.inputs(leaf), leaf.index, leaf)

    def grow(self, names: Iterable[str], before: int, at: Leaf | None) -> set[Leaf]:
        """What the values of `names` before leaf `before` depend on, but for what was found before."""
        new: set[Leaf] = set()
        stack = [(name, before, at) for name in names]
        while stack:
            name, position, where = stack.pop()
            if (name, position) in self._seen:
                continue
            self._seen.add((name, position))
            for leaf in self._slicer.reaching(name, position, self._mode, where):
                if leaf not in self._found:
                    self._found.add(leaf)
                    new.add(leaf)
                    stack.extend((use, leaf.index, leaf) for use in self._slicer.inputs(leaf))
        return new


def surely(leaves: Iterable[Leaf], depth: int = 0) -> bool:
    """Whether one of the leaves runs whatever the conditions around them are; loops are taken to have a turn."""
    arms: dict[ast.stmt, dict[str, list[Leaf]]] = {}
    for leaf in leaves:
        if len(leaf.arms) == depth:
            return True
        frame = leaf.arms[depth]
        arms.setdefault(frame.node, {}).setdefault(frame.arm, []).append(leaf)
    return any(
        all(
            surely(found.get(arm, ()), depth + 1) for arm in (("body", "orelse") if isinstance(node, ast.If) else found)
        )
        for node, found in arms.items()
    )

"""How many tensors a list holds, where that is known when the model is built: ``len(experts)``.

A list is followed through literals, comprehensions, ``+``, ``append``, ``extend`` and ``+=``. Its length is a sum of
products; each factor is a number or the length of something that is known.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import Union

from migrator.analyse.statements.bindingtime import Time
from migrator.analyse.statements.flow import Flow, Leaf
from migrator.analyse.statements.names import is_count, reads
from migrator.analyse.statements.slicing import Slicer
from migrator.analyse.statements.walks import Loop, parts

Factor = Union[int, ast.expr]
_OPERATIONS = (ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.IfExp, ast.Compare)
Terms = list[tuple[Factor, ...]]
"""A sum of products; an expression stands for its length, ``range(n)`` for `n`."""


class Lengths:
    """Lengths of the lists of one body; `time` tells when a value is known."""

    def __init__(self, flow: Flow, slicer: Slicer, time: Callable[[ast.AST], Time]) -> None:
        self._flow = flow
        self._slicer = slicer
        self._time = time
        self._known: dict[ast.expr, Terms | None] = {}

    def terms(self, node: ast.expr) -> Terms | None:
        """The length of a list of tensors; None where it is not known when the model is built."""
        if node not in self._known:
            at = self._leaf(node)
            self._known[node] = self._followed(node, at) if at is not None else None
        found = self._known[node]
        if found is None or any(self._time(part) > Time.STATIC for part in _expressions(found)):
            return None
        return found

    def of(self, call: ast.AST) -> Terms | None:
        """The value of ``len(experts)``; None for all other calls, and where the list is known itself."""
        plain = isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "len"
        if not plain or not isinstance(call, ast.Call) or len(call.args) != 1 or call.keywords:
            return None
        if isinstance(call.args[0], ast.Starred) or self._time(call.args[0]) <= Time.MODE:
            return None
        return self.terms(call.args[0])

    def reads(self, node: ast.AST) -> set[str]:
        """Names that the lengths below a node are computed from."""
        found: set[str] = set()
        for child in ast.walk(node):
            for part in _expressions(self.of(child) or []):
                found |= reads(part)
        return found

    def _leaf(self, node: ast.AST) -> Leaf | None:
        """The statement in which a node stands, or the first one of the loop whose head it is in."""
        for leaf in self._flow.leaves:
            for loop in leaf.loops:
                if any(child is node for child in ast.walk(loop.iter)):
                    return leaf
        return self._flow.leaf_of(node)

    def _followed(self, node: ast.expr, at: Leaf, depth: int = 0) -> Terms | None:
        if isinstance(node, (ast.List, ast.Tuple)):
            return None if any(isinstance(e, ast.Starred) for e in node.elts) else [(len(node.elts),)]
        if isinstance(node, ast.ListComp):
            if any(loop.ifs for loop in node.generators):
                return None
            counts = [self._turns(loop, at, depth) for loop in node.generators]
            return _product(counts)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            return _sum([self._followed(side, at, depth) for side in (node.left, node.right)])
        if isinstance(node, ast.Name) and depth < 8:
            return self._named(node.id, at, depth)
        return None

    def _turns(self, loop: Loop, at: Leaf, depth: int) -> Terms | None:
        """How often a loop turns: as often as its first part that is known."""
        found: Terms | None = None
        for _, iterable in parts(loop):
            if self._time(iterable) <= Time.STATIC:
                return [(iterable,)]
            found = found or self._followed(iterable, at, depth + 1)
        return found

    def _named(self, name: str, at: Leaf, depth: int) -> Terms | None:
        """The length of what a name holds when `at` runs."""
        sources = self._slicer.reaching(name, at.index, None, at)
        start = next((leaf for leaf in sources if name in leaf.kills and leaf.index < at.index), None)
        if start is None or start.arms != at.arms[: len(start.arms)]:
            return None
        if not isinstance(start.node, ast.Assign) or not all(isinstance(t, ast.Name) for t in start.node.targets):
            return None
        found = [self._followed(start.node.value, start, depth + 1)]
        for leaf in sorted(sources, key=lambda leaf: leaf.index):
            if leaf is start or (leaf.index >= at.index and _begins_anew(start, leaf, at)):
                continue
            loops = [f for f in leaf.arms[len(start.arms) :] if isinstance(f.node, ast.For) or f not in at.arms]
            added = _added(leaf.node)
            if leaf.index > at.index or added is None or any(f.arm != "body" or f in at.arms for f in loops):
                return None
            turns = [self._turns(f.node, leaf, depth) if isinstance(f.node, ast.For) else None for f in loops]
            found.append(
                _product([*turns, [(1,)] if isinstance(added, int) else self._followed(added, leaf, depth + 1)])
            )
        return _sum(found)


def _begins_anew(start: Leaf, later: Leaf, at: Leaf) -> bool:
    """Whether `start` undoes what `later` has done in an earlier turn of the loops that it shares with `at`."""
    common = [one for one, other in zip(at.loops, later.loops) if one is other]
    return list(start.loops[: len(common)]) == common


def _added(node: ast.stmt) -> ast.expr | int | None:
    """The list that a statement adds to another one, or 1 for a single element."""
    if isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add) and isinstance(node.target, ast.Name):
        return node.value
    call = node.value if isinstance(node, ast.Expr) else None
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute) or len(call.args) != 1:
        return None
    if not isinstance(call.func.value, ast.Name):
        return None
    if call.func.attr == "append":
        return 1
    return call.args[0] if call.func.attr == "extend" else None


def _sum(terms: list[Terms | None]) -> Terms | None:
    return None if None in terms else [term for each in terms for term in each or []]


def _product(terms: list[Terms | None]) -> Terms | None:
    found: Terms = [()]
    for each in terms:
        if each is None:
            return None
        found = [(*left, *right) for left in found for right in each]
    return found


def _expressions(terms: Terms) -> Iterator[ast.expr]:
    for term in terms:
        yield from (factor for factor in term if not isinstance(factor, int))


def written(terms: Terms, text: Callable[[ast.expr], str]) -> str:
    """The text of a length, such as ``2 * len(tasks) + params["shared"]``."""
    number, rest = 0, []
    for term in terms:
        plain, factors = 1, []
        for factor in term:
            if isinstance(factor, int):
                plain *= factor
            elif is_count(factor):
                assert isinstance(factor, ast.Call)
                count = factor.args[0]
                factors.append(f"({text(count)})" if isinstance(count, _OPERATIONS) and len(term) > 1 else text(count))
            else:
                factors.append(f"len({text(factor)})")
        if factors:
            rest.append(" * ".join([*([str(plain)] if plain != 1 else []), *factors]))
        else:
            number += plain
    return " + ".join([*rest, *([str(number)] if number or not rest else [])])

"""Methods of dicts, with a list only where somebody may need one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fissix.fixes import fix_dict
from fissix.pgen2 import token
from fissix.pygram import python_symbols as syms

from migrator.python2.fixers.around import is_argument

_TAKERS = frozenset({"len", "dict", "frozenset"})
"""What a view is as good for as a list, beside what fissix knows."""


class FixDict(fix_dict.FixDict):
    """2to3 makes a list of `d.items()` in each loop, as the loop may change `d`; here only where it does more than read it."""

    def in_special_context(self, node: Any, isiter: bool) -> bool:
        """Whether what stands around the call is content with a view."""
        if super().in_special_context(node, isiter):
            return True
        if is_argument(node) or is_argument(node, _TAKERS) or _is_searched(node):
            return True
        found: dict[str, Any] = {}
        loop = node.parent
        if loop is None or not self.p2.match(loop, found) or found["node"] is not node:
            return False
        whole = loop if loop.type == syms.for_stmt else loop.parent
        return not any(_is_more_than_read(leaf) for leaf in _mentions(whole, node))


def _is_searched(node: Any) -> bool:
    """Whether it stands behind `in` of a comparison."""
    parent, before = node.parent, node.prev_sibling
    if parent is None or parent.type != syms.comparison or before is None:
        return False
    return str(before).split() in (["in"], ["not", "in"])


def _mentions(whole: Any, call: Any) -> Iterator[Any]:
    """The names in a loop that are the first one of the dict whose items are asked for, without those of the call itself."""
    inside = {id(leaf) for leaf in call.leaves()}
    first = next(leaf for leaf in call.leaves() if leaf.type == token.NAME)
    return (leaf for leaf in whole.leaves() if leaf == first and id(leaf) not in inside)


def _is_more_than_read(leaf: Any) -> bool:
    """Whether a name may be that of a dict that grows or shrinks there, rather than one of which an entry is read."""
    power = leaf.parent
    if power is None or power.type != syms.power:
        return True
    trailers = power.children[1:]
    if not trailers or str(trailers[-1].children[0]) != "[":
        return True
    statement, child = power.parent, power
    while statement is not None and statement.type not in (syms.expr_stmt, syms.del_stmt, syms.simple_stmt):
        statement, child = statement.parent, statement
    if statement is None or statement.type == syms.simple_stmt:
        return False
    return statement.type == syms.del_stmt or child is not statement.children[-1]

"""The function `cmp`, which Python 3 has no more."""

from __future__ import annotations

from typing import Any

from fissix.fixer_base import BaseFix
from fissix.fixer_util import find_binding, parenthesize
from fissix.pgen2 import token
from fissix.pytree import Leaf, Node


class FixCmp(BaseFix):
    """A difference of two comparisons, where what is compared may be looked at twice."""

    BM_compatible = True
    PATTERN = "power< 'cmp' trailer< '(' arglist< a=any ',' b=any > ')' > >"

    def transform(self, node: Any, results: Any) -> Any:
        """What one call becomes, or None where it stays."""
        a, b = results["a"], results["b"]
        if find_binding("cmp", node) or any("(" in str(each) or each.type == self.syms.argument for each in (a, b)):
            return None
        sides = [_compared(self.syms, a, sign, b) for sign in ((token.GREATER, ">"), (token.LESS, "<"))]
        difference = Node(self.syms.arith_expr, [sides[0], Leaf(token.MINUS, "-", prefix=" "), sides[1]])
        sides[1].prefix = " "
        new = parenthesize(difference)
        new.prefix = node.prefix
        return new


def _compared(syms: Any, a: Any, sign: tuple[int, str], b: Any) -> Any:
    left, right = a.clone(), b.clone()
    left.prefix, right.prefix = "", " "
    return parenthesize(Node(syms.comparison, [left, Leaf(*sign, prefix=" "), right]))

"""Print statements, without a second pair of parentheses around what has one."""

from __future__ import annotations

from typing import Any

from fissix.fixes import fix_print
from fissix.pgen2 import token
from fissix.pygram import python_symbols as syms


class FixPrint(fix_print.FixPrint):
    """`print ("%d" % n)` is a call as it stands, and so is `print("a", n)`: who leaves out the blank means one. Of
    `print ("a", n)`, the parentheses are a tuple."""

    def transform(self, node: Any, results: Any) -> Any:
        """The call for one statement, or None where it stays."""
        return None if not results.get("bare") and _is_call(node.children[1:]) else super().transform(node, results)


def _is_call(args: list[Any]) -> bool:
    if len(args) != 1 or args[0].type != syms.atom or args[0].children[0].type != token.LPAR:
        return False
    inner = args[0].children[1:-1]
    return args[0].prefix == "" or len(inner) == 1 and inner[0].type not in (syms.testlist_gexp, syms.yield_expr)

"""What fixers ask of the code around a node, and what they do to its line."""

from __future__ import annotations

from typing import Any

from fissix.fixer_util import BlankLine
from fissix.pygram import python_symbols as syms

_ITERATE = frozenset({"zip", "izip", "map", "imap", "enumerate", "filter", "ifilter", "reversed"})
_TUPLES = frozenset({syms.testlist, syms.testlist_star_expr, syms.exprlist})


def is_argument(node: Any, names: frozenset[str] = _ITERATE) -> bool:
    """Whether a node is an argument of a call of one of these functions, or methods if their names begin with a dot.

    By default, of the functions that go through it once.
    """
    parent = node.parent
    if parent is None:
        return False
    trailer = parent.parent if parent.type == syms.arglist else parent
    called = trailer.prev_sibling if trailer is not None and trailer.type == syms.trailer else None
    return called is not None and str(called).strip() in names and str(trailer.children[0]) == "("


def is_gone_through(node: Any) -> bool:
    """Whether what a call returns is an argument of what goes through it once, or unpacked at once."""
    parent = node.parent
    if len(node.children) > 2:  # an entry of it, say
        return False
    if parent is not None and parent.type == syms.expr_stmt and parent.children[-1] is node:
        return all(target.type in _TUPLES for target in parent.children[:-1:2])
    return is_argument(node)


def without_line(node: Any) -> Any:
    """Remove a statement with its line; what stands above it goes to the one that follows.

    Returns what takes its place where it is not alone, or the last.
    """
    line = node.parent
    following = line.next_sibling
    if len(line.children) != 2 or following is None:
        new = BlankLine()
        new.prefix = node.prefix
        return new
    above, below = line.prefix, following.prefix
    is_blank = not above.strip() and (above or line.prev_sibling is None)
    if is_blank or above.endswith("\n\n"):
        below = below.lstrip("\n")
    following.prefix = above + below
    line.remove()
    return None

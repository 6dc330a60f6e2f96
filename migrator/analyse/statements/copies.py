"""Static values that are computed again where they are needed, instead of being kept on the model."""

from __future__ import annotations

import ast

from migrator.analyse.function.body import Body
from migrator.analyse.layers.turns import is_read_while_filled, refilled
from migrator.analyse.statements.times import is_cheap
from migrator.resolve.syntax import walk


def is_copied(body: Body, name: str) -> bool:
    """Whether a static name is computed again where it is needed, instead of being kept on the model."""
    if name in body.statics:
        return False
    if refilled(body, name) or _grows(body, name):
        return True
    for leaf in body.definitions(name):
        node = leaf.node
        number = isinstance(node, ast.AugAssign) and isinstance(node.value, ast.Constant)
        if leaf.defs - leaf.kills and not number:  # changes something: once is enough
            return False
        if isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
            if node.value is None or not is_cheap(node.value) or _makes(body, node.value):
                return False
        elif not isinstance(node, (ast.FunctionDef, ast.Import, ast.ImportFrom)):
            return False
    return True


def _grows(body: Body, name: str) -> bool:
    """Whether a loop that reads what it has put into a list so far puts numbers into it: ``sizes.append(units // 2)``."""
    definitions = body.definitions(name)
    if not any(leaf.loops for leaf in definitions) or not is_read_while_filled(body, name):
        return False
    return all(_puts(body, leaf.node) for leaf in definitions)


def _puts(body: Body, node: ast.stmt) -> bool:
    """Whether a statement makes a list, or appends to one, at no cost."""
    value = node.value if isinstance(node, (ast.Assign, ast.Expr)) else None
    if isinstance(node, ast.Assign):
        return isinstance(value, ast.List) and is_cheap(value) and not _makes(body, value)
    appends = isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr == "append"
    if not appends or not isinstance(value, ast.Call) or value.keywords or len(value.args) != 1:
        return False
    return is_cheap(value.args[0]) and not _makes(body, value.args[0])


def _makes(body: Body, node: ast.expr) -> bool:
    return any(id(child) in body.site_of for child in walk(node))

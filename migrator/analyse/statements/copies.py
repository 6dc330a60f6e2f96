"""Static values that are computed again where they are needed, instead of being kept on the model."""

from __future__ import annotations

import ast

from migrator.analyse.function.body import Body
from migrator.analyse.layers.turns import refilled
from migrator.analyse.statements.times import is_cheap
from migrator.resolve.syntax import walk


def is_copied(body: Body, name: str) -> bool:
    """Whether a static name is computed again where it is needed, instead of being kept on the model."""
    if name in body.statics:
        return False
    if refilled(body, name):
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


def _makes(body: Body, node: ast.expr) -> bool:
    return any(id(child) in body.site_of for child in walk(node))

"""Statements that are there for what they do, not for a value."""

from __future__ import annotations

import ast

from migrator.analyse.function.body import Body
from migrator.analyse.layers.objects import is_learning_phase
from migrator.analyse.statements.flow import Leaf
from migrator.analyse.statements.names import binds
from migrator.analyse.variables.reusecalls import tells
from migrator.resolve.syntax import walk


def effects(body: Body) -> list[Leaf]:
    """Statements that are there for what they do, not for a value."""
    found = []
    for leaf in body.flow.leaves:
        node = leaf.node
        if isinstance(node, ast.Assert) and body.modes.mentions(node.test) and body.modes.table(node.test) is not None:
            continue  # `assert mode == TRAIN`
        if is_learning_phase(body, node) or tells(body, leaf) or body.collections.is_idle(leaf):
            continue
        plain = isinstance(node, ast.Expr) and not isinstance(node.value, ast.Constant)
        if (plain or isinstance(node, (ast.Assert, ast.Raise))) and not leaf.defs:
            found.append(leaf)
        elif isinstance(node, (ast.If, ast.For, ast.While, ast.Try, ast.With)):
            if not leaf.defs or any(is_effect(body, c) or isinstance(c, ast.Raise) for c in walk(node)):
                found.append(leaf)
    return [leaf for leaf in found if body.counts(leaf)]


def is_effect(body: Body, node: ast.AST) -> bool:
    """Whether a statement calls something and neither keeps a value nor changes a name of the function."""
    if not isinstance(node, ast.Expr) or isinstance(node.value, ast.Constant):
        return False
    return not binds(node) - body.imported

"""What a program asks of the names of variables: a change of some has to give the same answers."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from migrator.analyse.variables.namepatterns import literal_pattern
from migrator.resolve.module import Module


def asked_alike(modules: Iterable[Module], name: ast.expr, new: str) -> bool:
    """Whether all tests of the form ``"text" in v.name`` answer the same if a variable of a layer has another name; not where
    more may be asked."""
    old = literal_pattern(name)
    for module in modules:
        for node in module.nodes(ast.Attribute):
            if node.attr != "name" or not isinstance(node.value, ast.Name):
                continue
            asked = module.parent(node)
            if not isinstance(asked, (ast.Compare, ast.Call, ast.Attribute)):
                continue
            text = (
                asked.left if isinstance(asked, ast.Compare) and isinstance(asked.ops[0], (ast.In, ast.NotIn)) else None
            )
            if old is None or not isinstance(text, ast.Constant) or not isinstance(text.value, str):
                return False
            if len({text.value in each for each in (old, new, f"dense/{new}:0")}) > 1:
                return False
    return True

"""What a program asks of the names of variables: a change of some has to give the same answers."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import TYPE_CHECKING

from migrator.analyse.variables.namepatterns import literal_pattern

if TYPE_CHECKING:
    from migrator.resolve.module import Module


def asked_alike(modules: Iterable[Module], name: ast.expr | None, new: Iterable[str]) -> bool:
    """Whether all tests of the form ``"text" in v.name`` answer the same for a variable and for one of any new name; not where
    files may ask more."""
    known = literal_pattern(name)
    for node in (node for module in modules for node in _asked(module)):
        text = node.left if isinstance(node, ast.Compare) and isinstance(node.ops[0], (ast.In, ast.NotIn)) else None
        if known is None or not isinstance(text, ast.Constant) or not isinstance(text.value, str):
            return False
        if len({text.value in each for each in (known, *new)}) > 1:
            return False
    return True


def _asked(module: Module) -> Iterable[ast.AST]:
    """What names of variables are a part of: tests, arguments of calls, methods of strings."""
    for node in module.nodes(ast.Attribute):
        whole = module.parent(node)
        named = node.attr == "name" and isinstance(node.value, ast.Name)
        if named and isinstance(whole, (ast.Compare, ast.Call, ast.Attribute)):
            yield whole

"""Names of modules that are put together at run time: ``import_module("nets.{}".format(name))``."""

from __future__ import annotations

import ast
import re
import string
from collections.abc import Iterator

from migrator.resolve.module import Module

IMPORT = "importlib.import_module"
ANY = ".+"
_DEEP = 4


def chosen_patterns(module: Module) -> Iterator[str]:
    """Regular expressions for the names of modules that a file imports by calls, where their beginning is written down."""
    for call in module.nodes(ast.Call):
        if len(call.args) == 1 and module.resolve(call.func) == IMPORT:
            pattern = pattern_of(module, call.args[0])
            if not pattern.startswith((ANY, re.escape("."))) and ANY in pattern:
                yield pattern


def pattern_of(module: Module, node: ast.expr, depth: int = 0) -> str:
    """A regular expression for what a text may be."""
    if isinstance(node, ast.Constant):
        return re.escape(str(node.value))
    if isinstance(node, ast.JoinedStr):
        return "".join(
            pattern_of(module, part, depth) if isinstance(part, ast.Constant) else ANY for part in node.values
        )
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return pattern_of(module, node.left, depth) + pattern_of(module, node.right, depth)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod) and _is_text(node.left):
        return ANY.join(map(re.escape, re.split(r"%\w", node.left.value)))  # type: ignore[attr-defined]
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "format":
        if _is_text(text := node.func.value):
            fields = string.Formatter().parse(text.value)  # type: ignore[attr-defined]
            return "".join(re.escape(before) + ("" if field is None else ANY) for before, field, _, _ in fields)
    statement = module.assignment(node) if isinstance(node, ast.Name) and depth < _DEEP else None
    return ANY if statement is None else pattern_of(module, statement.value, depth + 1)


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)

"""Functions of a program that only compute: what they are given goes in, what they return comes out, and nothing else happens."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Set
from typing import TYPE_CHECKING

from migrator.analyse.statements.names import MUTATORS, parameters, root_name
from migrator.resolve.syntax import walk

if TYPE_CHECKING:
    from migrator.analyse.function.translate import Translations
    from migrator.resolve.module import Module
    from migrator.resolve.project import Project

EFFECTS = ("assign", "py_func", "Print", "print", "scatter")
"""How functions of TensorFlow begin that are there for their effect."""
_MAKING = ("Variable", "get_variable", "layers", "keras", "get_collection", "add_to_collection")
_NOT = frozenset("exec eval open input print setattr delattr globals locals vars next iter super".split())
_STATEMENTS = (ast.Global, ast.Nonlocal, ast.Yield, ast.YieldFrom, ast.Await, ast.ClassDef, ast.Import, ast.ImportFrom)


def only_computes(
    project: Project, module: Module, call: ast.Call, translations: Translations, above: Set[ast.AST] = frozenset()
) -> bool:
    """Whether a call is of such a function, and of no metric."""
    found = project.definition(module, call.func)
    if found is None or not isinstance(found.node, ast.FunctionDef) or found.node in above:
        return False
    function, module = found.node, found.module
    if function.decorator_list or any(isinstance(node, _STATEMENTS) for node in walk(function)):
        return False
    own = parameters(function) | set(module.scope(function).bindings)
    changed = own - parameters(function)
    for node in walk(function):
        if isinstance(node, (ast.Subscript, ast.Attribute)) and not isinstance(node.ctx, ast.Load):
            if root_name(node) not in changed:
                return False
        if isinstance(node, ast.Call) and not _is_known(project, module, node, translations, changed):
            if not only_computes(project, module, node, translations, {*above, function}):
                return False
    return True


def _is_known(project: Project, module: Module, call: ast.Call, translations: Translations, changed: Set[str]) -> bool:
    """Whether a call in such a function is of Python, of a list that the function made, or of a library, and has no effect."""
    name = module.resolve(call.func)
    if name is not None and project.definition(module, call.func) is None:
        parts = name.split(".")
        made = parts[0] == "tensorflow" and any(part in _MAKING for part in parts)
        return name not in translations.metrics and not parts[-1].startswith(EFFECTS) and not made
    if isinstance(call.func, ast.Name):
        return hasattr(builtins, call.func.id) and call.func.id not in _NOT and not module.bindings(call.func)
    if isinstance(call.func, ast.Attribute) and name is None:
        return call.func.attr not in MUTATORS or root_name(call.func) in changed
    return False

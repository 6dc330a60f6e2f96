"""Parameters of helpers that only say ``reuse=…``: what each call of a helper tells of the sharing of variables."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Optional

from migrator.analyse.function.translate import Translations
from migrator.analyse.variables.reusecalls import tests_of_reuse
from migrator.analyse.variables.scopes import VARIABLE_SCOPE
from migrator.resolve.syntax import walk

if TYPE_CHECKING:
    from migrator.analyse.layers.site import Site
    from migrator.resolve.module import Module
    from migrator.resolve.project import Definition, Project

AUTO_REUSE = "tensorflow.AUTO_REUSE"
REUSE = "reuse"
"""What such a parameter is for a helper. The layer that the helper becomes does not have it."""
Flags = Mapping[str, Optional[bool]]
"""Parameters that say whether variables are found again, with what a call gives for them; None where no literal."""
NOTHING: Flags = MappingProxyType({})


def reuse_parameters(
    project: Project, translations: Translations, definition: Definition, around: tuple[Definition, ...] = ()
) -> set[str]:
    """The parameters of a helper that are read as ``reuse=…`` of scopes, layers and helpers alone, and never set."""
    function = definition.node
    if not isinstance(function, ast.FunctionDef) or definition in around:
        return set()
    named = [a.arg for a in (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)]
    others = [node.arg for node in walk(function) if isinstance(node, ast.arg)]  # with those of functions inside
    said = tests_of_reuse(definition.module, function)
    for call in (node for node in walk(function) if isinstance(node, ast.Call)):
        values = {k.value for k in call.keywords if k.arg == "reuse" and isinstance(k.value, ast.Name)}
        if values and _passes_on(project, translations, definition, call, around):
            said |= values
    read = {node.id for node in walk(function) if isinstance(node, ast.Name) and node not in said}
    return {node.id for node in said if node.id in named and others.count(node.id) == 1} - read


def _passes_on(
    project: Project, translations: Translations, definition: Definition, call: ast.Call, around: tuple[Definition, ...]
) -> bool:
    """Whether a call uses `reuse` for nothing but its variables."""
    name = definition.module.resolve(call.func)
    if name is not None and (name == VARIABLE_SCOPE or name in translations.layers):
        return True
    other = project.definition(definition.module, call.func)
    return other is not None and "reuse" in reuse_parameters(project, translations, other, (*around, definition))


def is_plain(value: ast.expr) -> bool:
    """Whether a value may be left out where nothing asks for it."""
    return not any(isinstance(node, (ast.Call, ast.Await, ast.NamedExpr)) for node in walk(value))


def told(module: Module, value: ast.expr | None) -> bool | None:
    """What a call of a helper says of reuse; None where that is not a literal."""
    if isinstance(value, ast.Constant):
        return bool(value.value)
    return True if value is not None and module.resolve(value) == AUTO_REUSE else None


def passed(site: Site, flags: Flags) -> Flags:
    """What a call in a helper says of reuse, where the helper itself is told `flags`."""
    given = {name: value.id for name, value in site.layer.given if isinstance(value, ast.Name)}
    return {name: flags.get(given[name]) if name in given else said for name, said in site.layer.reuse}


def says_no(node: ast.expr, flags: Flags = NOTHING) -> bool:
    """Whether a value of ``reuse=…`` is false."""
    if isinstance(node, ast.Name):
        return flags.get(node.id) is False
    return isinstance(node, ast.Constant) and not node.value

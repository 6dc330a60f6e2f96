"""Reads of names of files that no import shows: ``getattr(import_module("nets.{}".format(name)), "build")``."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from migrator.resolve.module import Module
from migrator.resolve.module_names import ANY, IMPORT, pattern_of
from migrator.resolve.project import Project
from migrator.resolve.symbols import Scope

Member = tuple[ast.expr, str, str]
"""What reads a member of an imported file, a regular expression for the name of the file, and that of the member."""


def readers_of(project: Project, module: Module, scope: Scope, name: str) -> Iterator[tuple[Module, ast.expr]]:
    """All that reads a name of a scope: also what takes it of a file whose name is put together at run time."""
    yield from project.readers.of(module, scope, name)
    if scope is not module.analysis.root:
        return
    for other in project.modules.values():
        for node, pattern, member in _members(other) if b"import_module" in other.source else ():
            if member == name and any(re.fullmatch(pattern, dotted) for dotted in project.names_of(module, other)):
                yield other, node


def imported_by(project: Project, module: Module, call: ast.Call) -> Iterator[Module]:
    """The files that a call may import by a name of which a part is written down."""
    pattern = pattern_of(module, call.args[0]) if call.args else ANY
    if pattern.replace(ANY, ""):
        for other in project.modules.values():
            if any(re.fullmatch(pattern, dotted) for dotted in project.names_of(other, module)):
                yield other


def is_followed(module: Module, call: ast.Call) -> bool:
    """Whether all that is done to the file which a call imports is to take members of it by names that are written down."""
    plain = len(call.args) == 1 and not call.keywords and not pattern_of(module, call.args[0]).startswith(ANY)
    reads = _reads(module, call)
    return plain and module.resolve(call.func) == IMPORT and len(list(_taken(module, call))) == len(reads) > 0


def _members(module: Module) -> list[Member]:
    """What a file takes of files that it imports by names which are put together."""
    found: list[Member] | None = module.memo.get("chosen members")
    if found is None:
        found = module.memo["chosen members"] = []
        for call in module.nodes(ast.Call):
            if module.resolve(call.func) == IMPORT and len(call.args) == 1 and not call.keywords:
                pattern = pattern_of(module, call.args[0])
                if not pattern.startswith(ANY):
                    found += [(node, pattern, name) for node, name in _taken(module, call)]
    return found


def _taken(module: Module, call: ast.Call) -> Iterator[tuple[ast.expr, str]]:
    """What is taken of the file that a call imports, and what takes it."""
    for read in _reads(module, call):
        user = module.parent(read)
        if isinstance(user, ast.Attribute) and isinstance(user.ctx, ast.Load):
            yield user, user.attr
        elif isinstance(user, ast.Call) and len(user.args) == 2 and user.args[0] is read:
            name = user.args[1]
            plain = isinstance(user.func, ast.Name) and user.func.id == "getattr" and not module.bindings(user.func)
            if plain and isinstance(name, ast.Constant) and isinstance(name.value, str):
                yield user, name.value


def _reads(module: Module, call: ast.Call) -> list[ast.expr]:
    """What stands for the file that a call imports: the call, or the name that a function gives it."""
    statement = module.parent(call)
    target = statement.targets[0] if isinstance(statement, ast.Assign) and len(statement.targets) == 1 else None
    scope = module.scope(target) if isinstance(target, ast.Name) else None
    if isinstance(target, ast.Name) and scope is not None and scope.kind == "function":
        if scope.holder(target.id) is scope and len(module.bindings(target)) == 1:
            return list(module.loads_of(target.id, scope))
    return [call]

"""Functions that were put in the place of their calls: they go where nothing uses them any more, and so do their imports."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator

from migrator import rewrite
from migrator.engine.fixes import splice
from migrator.normalise.draft.draft import Change, Drafts
from migrator.normalise.functions.lift import removal, unused
from migrator.resolve.module import Module
from migrator.resolve.project import Project
from migrator.resolve.symbols import Import
from migrator.resolve.syntax import statements
from migrator.rewrite import Remove, Replace
from migrator.vocabulary.diagnostics import Edit


def taken_away(drafts: Drafts, path: str, name: str) -> bool:
    """Whether there was a function, class or method, ``Net.call``, of the name that nothing uses; it is gone then."""
    nodes = named(drafts, path, name)
    for index in range(len(nodes)):
        drafts.apply(idle_imports(drafts.project, drafts.project.modules[path], name))
        nodes = named(drafts, path, name)
        module = drafts.project.modules[path]
        if unused(drafts, module, nodes[index]):
            drafts.apply(Change.of(module, removal(nodes[index])))
            return True
    return False


def unsaid(drafts: Drafts, changes: list[Change], path: str, name: str) -> list[Change]:
    """The removal of the function or class of the name, if no file says the name any more once `changes` are made.

    It can be made with them then; what else is unused, `taken_away` finds out in the next draft.
    """
    nodes, name = named(drafts, path, name), name.rpartition(".")[2]
    if len(nodes) != 1 or name.startswith("__"):
        return []
    modules = drafts.project.modules
    (removed,) = Change.of(modules[path], removal(nodes[0]))
    start, end = removed.edit.start, removed.edit.end
    owner = modules[path].parent(nodes[0])
    if isinstance(owner, ast.ClassDef):  # which must not become empty
        start, end = modules[path].span(owner)
    elif not isinstance(owner, ast.Module):
        return []
    edits: dict[str, list[Edit]] = {path: [removed.edit]}
    for edit in dict.fromkeys(change.edit for change in changes):
        if edit.path == path and edit.start <= end and start <= edit.end:
            return []
        edits.setdefault(edit.path, []).append(edit)
    word = re.compile(rb"\b" + name.encode() + rb"\b")
    texts = (splice(module.source, edits.get(other, [])) for other, module in modules.items())
    return [] if any(word.search(text) for text in texts) else [removed]


def named(drafts: Drafts, path: str, name: str) -> list[ast.FunctionDef | ast.ClassDef]:
    """The functions and classes of that name in a file, classes last; the methods of a class, ``Net.call``."""
    module = drafts.project.modules[path]
    table: dict[str, list[ast.FunctionDef | ast.ClassDef]] | None = module.memo.get("named")
    if table is None:
        table = module.memo["named"] = {}
        for node in statements(module.tree):
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                owner = module.parent(node)
                table.setdefault(node.name, []).append(node)
                if isinstance(owner, ast.ClassDef):
                    table.setdefault(f"{owner.name}.{node.name}", []).append(node)
    return sorted(table.get(name, []), key=lambda node: isinstance(node, ast.ClassDef))


def idle_imports(project: Project, home: Module, name: str, gone: Collection[ast.expr] = ()) -> list[Change]:
    """Edits that take a name of a file out of the imports of files that do not read it, but for what is `gone`."""
    changes: list[Change] = []
    for module, entry in imports_of(project, home, name):
        statement = entry.statement
        if module.path.endswith("__init__.py") or "__all__" in module.analysis.root.bindings or not entry.top_level:
            continue
        if any(load not in gone for load in module.loads_of(entry.name, entry.scope)):
            continue
        if isinstance(module.parent(statement), ast.Module) and not module.comments_in(*module.span(statement)):
            assert isinstance(statement, ast.ImportFrom)
            changes += Change.of(module, _without(module, statement, entry.alias))
    return changes


def imports_of(project: Project, home: Module, name: str) -> Iterator[tuple[Module, Import]]:
    """Where other files import a name of a file, be it through others."""
    for module in project.modules.values():
        for entry in module.imports if module is not home and name.encode() in module.source else ():
            if isinstance(entry.statement, ast.ImportFrom) and entry.alias.name == name:
                head, _, last = entry.target.rpartition(".")
                owner = project.module_behind(head, module) if head.strip(".") else None
                if owner is not None and project.readers.origin(owner, last) == (home.path, name):
                    yield module, entry


def _without(module: Module, statement: ast.ImportFrom, gone: ast.alias) -> rewrite.Change:
    rest = [module.segment(alias) for alias in statement.names if alias is not gone]
    if not rest:
        return Remove(statement, apart=True)
    source = "." * statement.level + (statement.module or "")
    return Replace(statement, rewrite.statements(f"from {source} import {', '.join(rest)}"))

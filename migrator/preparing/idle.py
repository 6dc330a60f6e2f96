"""Functions that were put in the place of their calls: they go where nothing uses them any more, and so do their imports."""

from __future__ import annotations

import ast

from migrator.diagnostics import Edit
from migrator.module import Module
from migrator.preparing.draft import Change, Drafts
from migrator.preparing.lift import removal, unused
from migrator.project import Definition, Project


def taken_away(drafts: Drafts, path: str, name: str) -> bool:
    """Whether there was a function or class of the name that nothing uses; it is gone then."""
    nodes = _named(drafts, path, name)
    for index in range(len(nodes)):
        drafts.apply(_idle_imports(drafts.project, Definition(drafts.project.modules[path], nodes[index])))
        nodes = _named(drafts, path, name)
        module = drafts.project.modules[path]
        if unused(drafts, module, nodes[index]):
            drafts.apply([removal(module, nodes[index])])
            return True
    return False


def _named(drafts: Drafts, path: str, name: str) -> list[ast.FunctionDef | ast.ClassDef]:
    module = drafts.project.modules[path]
    nodes: list[ast.FunctionDef | ast.ClassDef] = [*module.nodes(ast.FunctionDef), *module.nodes(ast.ClassDef)]
    return [node for node in nodes if node.name == name]


def _idle_imports(project: Project, gone: Definition) -> list[Change]:
    """Edits that take the name of a function or class out of the imports of files that do not read it."""
    changes: list[Change] = []
    for module in project.modules.values():
        if gone.name.encode() not in module.source or module.path.endswith("__init__.py"):
            continue
        if module is gone.module or "__all__" in module.analysis.root.bindings:
            continue
        for entry in module.imports:
            statement = entry.statement
            if not isinstance(statement, ast.ImportFrom) or entry.alias.name != gone.name or not entry.top_level:
                continue
            if (entry.scope, entry.name) in module.names_read or project.exported(entry.target, module) != gone:
                continue
            if isinstance(module.parent(statement), ast.Module) and not module.comments_in(*module.span(statement)):
                changes.append(Change(_without(module, statement, entry.alias)))
    return changes


def _without(module: Module, statement: ast.ImportFrom, gone: ast.alias) -> Edit:
    rest = [module.segment(alias) for alias in statement.names if alias is not gone]
    if not rest:
        return module.delete_statement(statement)
    source = "." * statement.level + (statement.module or "")
    return module.edit(statement, f"from {source} import {', '.join(rest)}")

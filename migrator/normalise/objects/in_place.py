"""A model_fn that built its network with a class of another file takes the place of that class, where it can.

text_cnn.py:  class TextCNN(object): …      def cnn_model_fn(features, labels, mode): …
train.py:     def cnn_model_fn(…): …        from text_cnn import cnn_model_fn
"""

from __future__ import annotations

import ast

from migrator import rewrite
from migrator.normalise.draft.draft import Change, Drafts
from migrator.normalise.draft.globals import outer_names
from migrator.normalise.functions.idle import named
from migrator.normalise.functions.lift import removal
from migrator.resolve.module import Module
from migrator.resolve.project import Definition
from migrator.rewrite import Replace, code, statements
from migrator.vocabulary.unsupported import Unsupported


def in_place(drafts: Drafts, path: str, name: str, owner: tuple[str, str]) -> list[Change]:
    """The edits that move the function `name` of a file into the place of a class, given by file and name, that nothing else
    uses. Raises Unsupported."""
    project = drafts.project
    home, module = project.modules[path], project.modules[owner[0]]
    functions, classes = named(drafts, path, name), named(drafts, *owner)
    if len(functions) != 1 or len(classes) != 1 or not isinstance(functions[0], ast.FunctionDef):
        raise Unsupported("the class or the function has several definitions", None)
    function, node = functions[0], classes[0]
    if not all(isinstance(m.parent(n), ast.Module) for m, n in ((home, function), (module, node))):
        raise Unsupported("the class or the function stands in another one", function)
    if name in module.bound_names or _imported_elsewhere(drafts, home, name):
        raise Unsupported(f"`{name}` is the name of something else, or imported", function)
    if any(next(project.uses(Definition(module, node), other), None) for other in project.modules.values()):
        raise Unsupported(f"`{owner[1]}` has other uses", node)
    names = outer_names(drafts, module, node, home, function)
    if any(text != written for text, written in names.texts.items()):
        raise Unsupported("what it reads is called otherwise there", function)
    wanted: list[tuple[Module, rewrite.Change]] = [(module, change) for change in names.changes]
    wanted.append((module, Replace(node, home.cst.statement(function).with_changes(leading_lines=()))))
    wanted += [(home, change) for change in (removal(function), *_named_anew(drafts, home, module, function, owner[1]))]
    return Change.every(wanted, [home])


def _imported_elsewhere(drafts: Drafts, home: Module, name: str) -> bool:
    """Whether another file of the program may read the function as a member of `home`."""
    others = (other for other in drafts.project.modules.values() if other is not home)
    return any(
        name.encode() in other.source and home in dict(drafts.project.imported(other)).values() for other in others
    )


def _named_anew(
    drafts: Drafts, home: Module, module: Module, function: ast.FunctionDef, old: str
) -> list[rewrite.Change]:
    """The changes by which `home` names the function where it stands now: it imports it instead of the class `old`, or reads it
    as a member of the file that it imports. Raises Unsupported."""
    project, name = drafts.project, function.name
    if len(home.analysis.root.bindings.get(name, ())) != 1:
        raise Unsupported(f"`{name}` has other values", function)
    for entry in home.imports:
        statement = entry.statement
        if not entry.top_level or not isinstance(home.parent(statement), ast.Module) or entry.name == "*":
            continue
        inner = project.module_named(entry.target, home)
        if inner is module:
            prefix = entry.name if isinstance(statement, ast.ImportFrom) or entry.alias.asname else entry.target
            return [Replace(use, code(f"{prefix}.{name}")) for use in project.uses(Definition(home, function), home)]
        source = entry.target.rpartition(".")[0]
        if isinstance(statement, ast.ImportFrom) and entry.alias.name == old and inner is None and entry.name == old:
            if project.module_named(source, home) is module:
                texts = [name if alias is entry.alias else home.segment(alias) for alias in statement.names]
                text = "." * statement.level + (statement.module or "")
                return [Replace(statement, statements(f"from {text} import {', '.join(texts)}"))]
    raise Unsupported(f"`{name}` of another file cannot be named here", function)

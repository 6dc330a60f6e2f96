"""How names from outside of a function are written in another place of the program."""

from __future__ import annotations

import ast
import builtins
import itertools
from dataclasses import dataclass, field

from migrator import rewrite
from migrator.normalise.draft.draft import Drafts
from migrator.resolve.module import Module
from migrator.resolve.project import Project
from migrator.resolve.symbols import Scope
from migrator.resolve.syntax import walk
from migrator.rewrite import Import, Insert, statements
from migrator.vocabulary.unsupported import Unsupported


@dataclass
class OuterNames:
    """Texts of the names, and the imports that they need."""

    texts: dict[str, str] = field(default_factory=dict)
    changes: list[rewrite.Change] = field(default_factory=list)
    added: dict[ast.ImportFrom, list[str]] = field(default_factory=dict)
    """Names that are imported behind an import of others of the same file."""


def outer_names(drafts: Drafts, module: Module, at: ast.AST, home: Module, node: ast.AST) -> OuterNames:
    """The names that code of `home` reads from outside, as the code at `at` in `module` has to write them."""
    found = OuterNames()
    add_outer_names(drafts, module, at, home, node, found)
    return found


def add_outer_names(
    drafts: Drafts, module: Module, at: ast.AST, home: Module, code: ast.AST, found: OuterNames
) -> None:
    """Adds the names that code of `home` reads from outside to those that are found. Raises Unsupported."""
    inside = {id(node) for node in walk(code)}
    for node, scope in home.analysis.loads:
        if id(node) not in inside or node.id in found.texts:
            continue
        holder = scope.lookup(node.id)
        if holder is None:
            if hasattr(builtins, node.id) or node.id in ("__file__", "__name__"):
                continue
            raise Unsupported(f"`{node.id}` is not found", node)
        if id(holder.node) in inside:
            continue
        found.texts[node.id] = _written(drafts, module, at, home, node, holder, found)


def _written(
    drafts: Drafts, module: Module, at: ast.AST, home: Module, node: ast.Name, holder: Scope, found: OuterNames
) -> str:
    here = module.scope(at)
    seen = here.lookup(node.id)
    if home is module:
        if seen is not holder:
            raise Unsupported(f"`{node.id}` means something else here", node)
        return node.id
    if holder.kind != "module":
        raise Unsupported(f"`{node.id}` belongs to a function of another file", node)
    entry = next((e for e in home.imports if e.name == node.id and e.top_level), None)
    if (
        entry is not None
        and drafts.project.module_named(entry.target, home) is None
        and not entry.target.startswith(".")
    ):
        if seen is not None and seen.kind == "module":
            same = next((e for e in module.imports if e.name == node.id and e.top_level), None)
            if same is not None and (same.target == entry.target or _are_version_1(module, same.target, entry.target)):
                return node.id
        if drafts.project.exported(entry.target, home) is None:
            if seen is not None:
                raise Unsupported(f"`{node.id}` means something else in the other file", node)
            statement = home.segment(entry.statement)
            if "\n" in statement or "," in statement:
                statement = f"from {entry.target.rpartition('.')[0]} import {entry.alias.name}"
                statement += f" as {entry.alias.asname}" if entry.alias.asname else ""
            found.changes.append(Import(statement))
            return node.id
    if entry is not None and isinstance(entry.statement, ast.ImportFrom) and not entry.target.startswith("."):
        inner = drafts.project.module_named(entry.target, home)
        same = next((e for e in module.imports if e.name == node.id and e.top_level), None)
        if inner is not None and same is not None and same.target == entry.target and seen is module.analysis.root:
            return node.id
        if inner is not None and seen is None and not _leads_to(drafts.project, inner, module):
            as_name = f" as {entry.alias.asname}" if entry.alias.asname else ""
            package = entry.target.rpartition(".")[0]
            found.changes.append(Import(f"from {package} import {entry.alias.name}{as_name}"))
            return node.id
    meant = _alias(home, home.analysis.root, node.id)
    if meant is not None and (home.resolve(meant) or "").startswith("tensorflow"):
        here_too = _alias(module, seen, node.id) if seen is module.analysis.root else None
        if here_too is not None and module.resolve(here_too) == home.resolve(meant):
            return node.id
        root = meant
        while isinstance(root, ast.Attribute):
            root = root.value
        if seen is None and isinstance(root, ast.Name):  # written out
            written = _written(drafts, module, at, home, root, holder, found)
            return written + ast.unparse(meant).removeprefix(root.id)
    return member(drafts, module, at, home, node.id, found, node)


def _are_version_1(module: Module, here: str, there: str) -> bool:
    """Whether `tensorflow` and its `compat.v1` are the same, as they are where a module does not speak TensorFlow 2."""
    return {here, there} == {"tensorflow", "tensorflow.compat.v1"} and module.module_dialect != "v2"


def _alias(module: Module, scope: Scope, name: str) -> ast.expr | None:
    """What a name of a scope is another name of: ``tf1 = tf.compat.v1``."""
    bound = scope.bindings.get(name, [])
    return bound[0].alias if len(bound) == 1 else None


def member(
    drafts: Drafts, module: Module, at: ast.AST, home: Module, name: str, found: OuterNames, node: ast.AST
) -> str:
    """How the code at `at` of `module` writes a name at the level of another module `home`; the import that it takes comes
    to what was `found`. Raises Unsupported."""
    here = module.scope(at)
    seen = here.lookup(name)
    for entry in module.imports:
        if not entry.top_level:
            continue
        if drafts.project.module_named(entry.target, module) is home and entry.name != "*":
            prefix = entry.name if isinstance(entry.statement, ast.ImportFrom) or entry.alias.asname else entry.target
            if here.lookup(entry.name) is not None and here.lookup(entry.name) is module.analysis.root:
                return f"{prefix}.{name}"
    for entry in module.imports:
        head, _, last = entry.target.rpartition(".")
        if not entry.top_level or not head or not isinstance(entry.statement, ast.ImportFrom):
            continue
        head = head if head.strip(".") else entry.target
        if drafts.project.module_named(head, module) is not home:
            continue
        if last == name and entry.name == name and seen is module.analysis.root:
            return name
    for entry in module.imports:
        origin = entry.statement
        if not isinstance(origin, ast.ImportFrom) or not entry.top_level or seen is not None:
            continue
        source = "." * origin.level + (origin.module or "")
        if source.strip(".") and drafts.project.module_named(source, module) is home:
            found.changes = [c for c in found.changes if not (isinstance(c, Insert) and c.after is origin)]
            added = found.added.setdefault(origin, [])
            added.append(name)
            line = f"from {source} import {', '.join(dict.fromkeys(added))}"
            found.changes.append(Insert(statements(line), after=origin))
            return name
    shown = _absolute_name(drafts.project, home) if seen is not module.analysis.root else None
    if shown is not None and not _leads_to(drafts.project, home, module):
        written = name if seen is None else _another_name(module, f"{shown}.{name}", name)
        found.changes.append(Import(f"from {shown} import {name}{f' as {written}' if written != name else ''}"))
        return written
    raise Unsupported(f"`{name}` of another file cannot be named here", node)


def _another_name(module: Module, target: str, name: str) -> str:
    """A name for what a file imports where a function has a variable of its name."""
    known = (
        entry.name for entry in module.imports if entry.target == target and entry.top_level and entry.name != name
    )
    free = (f"{name}_{number}" for number in itertools.count(2) if f"{name}_{number}" not in module.bound_names)
    return next(known, None) or next(free)


def _absolute_name(project: Project, home: Module) -> str | None:
    """The name by which a file of the program imports another one, the same wherever that is done."""
    for module in project.modules.values():
        for entry in module.imports:
            origin = entry.statement
            source = origin.module or "" if isinstance(origin, ast.ImportFrom) and not origin.level else ""
            if source and project.module_named(source, module) is home:
                return source
    return None


def _leads_to(project: Project, start: Module, end: Module) -> bool:
    """Whether a module imports another one, be it through others."""
    seen = {start.path}
    stack = [start]
    while stack:
        module = stack.pop()
        if module is end:
            return True
        for _, other in project.imported(module):
            if other.path not in seen:
                seen.add(other.path)
                stack.append(other)
    return False

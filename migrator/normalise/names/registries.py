"""Registries of networks that decorators fill, as the tables that they come to be.

    MODELS = {}                                       MODELS = {"wide": wide}

    def register(name):
        def decorator(function):
            MODELS[name] = function
            return function
        return decorator

    @register("wide")                                 def wide(net):
    def wide(net):                                        …
        …

The table stands below what it holds. Registries that other files fill stay.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from migrator.normalise.draft.draft import Change, Drafts
from migrator.normalise.functions.lift import removal
from migrator.resolve.module import Module
from migrator.resolve.project import Project
from migrator.resolve.syntax import walk
from migrator.rewrite import Insert, Remove, Replace, Unprintable, code

_WIDTH = 100
_KINDS = (ast.FunctionDef, ast.ClassDef)


@dataclass
class _Registry:
    """A table, the function whose decorators fill it, and what they enter."""

    module: Module
    table: ast.Assign
    function: ast.FunctionDef
    named: bool
    """Whether the decorator is given the key; else it is the name of what it decorates."""
    entries: list[tuple[str, ast.FunctionDef | ast.ClassDef]] = field(default_factory=list)
    """Keys as they are written, and what stands under them."""

    @property
    def name(self) -> str:
        """The name of the table."""
        target = self.table.targets[0]
        assert isinstance(target, ast.Name)
        return target.id


def written_out(drafts: Drafts) -> None:
    """Write all such registries of a program as tables."""
    for path in list(drafts.project.modules):
        module = drafts.project.modules[path]
        for function in [s for s in module.tree.body if isinstance(s, ast.FunctionDef)]:
            found = _registry(module, function)
            changes = _changes(found) if found is not None and _entered(drafts.project, found) else []
            if changes:
                drafts.apply(changes)
                break


def _registry(module: Module, function: ast.FunctionDef) -> _Registry | None:
    """The registry that a function of a module enters into; None if that is not what it does."""
    found = filled(function, function.args.args)
    table = module.assignment(found[0]) if found is not None and isinstance(found[0], ast.Name) else None
    if found is None or table is None or not is_empty(table.value) or table not in module.tree.body:
        return None
    return _Registry(module, table, function, found[1])


def filled(function: ast.FunctionDef, given: list[ast.arg]) -> tuple[ast.expr, bool] | None:
    """The table that a function enters into what it decorates, and whether it is `given` the key; None if it does more."""
    arguments = function.args
    if function.decorator_list or len(given) != 1 or arguments.vararg or arguments.kwarg or arguments.defaults:
        return None
    parameter = given[0].arg
    body = _without_docstring(function)
    named = len(body) == 2 and isinstance(body[0], ast.FunctionDef) and _returns(body[1], body[0].name)
    if named:
        inner = body[0]
        assert isinstance(inner, ast.FunctionDef)
        if len(inner.args.args) != 1 or inner.decorator_list:
            return None
        entered, body = inner.args.args[0].arg, _without_docstring(inner)
        key = parameter
    else:
        entered, key = parameter, f"{parameter}.__name__"
    body = [s for s in body if not only_raises(s)]
    if len(body) != 2 or not _returns(body[1], entered) or not isinstance(body[0], ast.Assign):
        return None
    target = body[0].targets[0] if len(body[0].targets) == 1 else None
    if (
        not isinstance(target, ast.Subscript)
        or ast.unparse(body[0].value) != entered
        or ast.unparse(target.slice) != key
    ):
        return None
    return target.value, named


def is_empty(table: ast.expr) -> bool:
    """Whether a table begins with nothing in it."""
    return ast.unparse(table) in ("{}", "dict()")


def key_of(module: Module, decorator: ast.expr, holder: ast.FunctionDef | ast.ClassDef, named: bool) -> str | None:
    """The key under which a decorator enters what it decorates, as it is written; None where it is no literal."""
    if not named:
        return f'"{holder.name}"'
    given = [*decorator.args, *(k.value for k in decorator.keywords)] if isinstance(decorator, ast.Call) else []
    known = len(given) == 1 and isinstance(given[0], ast.Constant) and isinstance(given[0].value, str)
    return module.segment(given[0]) if known else None


def _without_docstring(function: ast.FunctionDef) -> list[ast.stmt]:
    first = function.body[0]
    text = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
    return function.body[1:] if text else function.body


def _returns(statement: ast.stmt, name: str) -> bool:
    return isinstance(statement, ast.Return) and isinstance(statement.value, ast.Name) and statement.value.id == name


def only_raises(statement: ast.stmt) -> bool:
    """Whether a statement does nothing but raise an error under a condition."""
    alone = isinstance(statement, ast.If) and not statement.orelse
    return alone and all(isinstance(s, ast.Raise) for s in statement.body)  # type: ignore[attr-defined]


def _entered(project: Project, found: _Registry) -> bool:
    """Find what is entered; False where the table may be filled, or the function used, in any other way."""
    module, name = found.module, found.function.name
    others = (other for other in project.modules.values() if other is not module)
    texts = (node for node in walk(module.tree) if isinstance(node, ast.Constant) and node.value == name)
    if any(name in other.text for other in others) or any(texts):
        return False
    for other, use in project.readers.of(module, module.analysis.root, name):
        made = other.parent(use) if found.named else use
        holder = other.parent(made) if made is not None else None
        if not isinstance(holder, _KINDS) or holder.decorator_list != [made] or holder not in module.tree.body:
            return False
        key = key_of(other, made, holder, found.named) if isinstance(made, ast.expr) else None
        if key is None:
            return False
        if len(other.analysis.root.bindings[holder.name]) != 1:
            return False
        found.entries.append((key, holder))
    found.entries.sort(key=lambda entry: entry[1].lineno)
    keys = [ast.literal_eval(key) for key, _ in found.entries]
    inside = {id(node) for node in walk(found.function)}
    behind = found.entries[-1][1].end_lineno or 0 if found.entries else 0
    for other, read in project.readers.of(module, module.analysis.root, found.name):
        if id(read) not in inside and (module.nearest(read, ast.FunctionDef) is None and other is module):
            if read.lineno <= behind:
                return False  # read while the file is imported, when the decorators have not run
        if isinstance(getattr(other.parent(read), "ctx", None), (ast.Store, ast.Del)) and id(read) not in inside:
            return False
    return bool(keys) and len(set(keys)) == len(keys)


def _changes(found: _Registry) -> list[Change]:
    """The edits that make a table of a registry."""
    file = found.module.cst
    pairs = [f"{key}: {holder.name}" for key, holder in found.entries]
    text = f"{{{', '.join(pairs)}}}"
    if len(f"{found.name} = {text}") > _WIDTH:
        text = "\n".join(["{", *(f"    {pair}," for pair in pairs), "}"])
    try:
        bare = [Replace(h, file.statement(h).with_changes(decorators=())) for _, h in found.entries]
        table = Insert(
            file.statement(found.table, {found.table.value: code(text)}), after=found.entries[-1][1], apart=True
        )
    except Unprintable:
        return []
    return Change.of(found.module, removal(found.function), *bare, table, Remove(found.table, apart=True))

"""Model_fns that are found by a name made at run time, where all of them are seen: the choice becomes one from a table.

estimator = Estimator(getattr(nets, name))          MODELS = {"deep": nets.deep, "wide": nets.wide}

                                                    estimator = Estimator(MODELS[name])

Likewise ``globals()[name]``, ``importlib.import_module("nets." + name).model_fn`` and a table of modules.
"""

from __future__ import annotations

import ast
import os

from migrator.normalise.draft.draft import Change, Drafts
from migrator.normalise.draft.globals import OuterNames, member
from migrator.normalise.functions.partials import idle_import
from migrator.normalise.values.possible_values import display
from migrator.resolve.calls import prefixed
from migrator.resolve.module import Module
from migrator.resolve.project import Definition, Project
from migrator.resolve.syntax import walk
from migrator.rewrite import Import, Insert, Remove, Replace, code, statements
from migrator.vocabulary.unsupported import Unsupported

_ASKED = frozenset({"features", "mode"})
_SPECS = ("EstimatorSpec", "create_estimator_spec")
Entry = tuple[str, str]
"""The text of a key of the table, and that of the function."""


def table_of_names(drafts: Drafts, module: Module, node: ast.expr) -> list[Change]:
    """The edits that make a table of what `node` chooses from; none where it names a model_fn by no such means.

    Raises Unsupported where not all of them are seen.
    """
    value = _value(module, node)
    names = OuterNames()
    chosen = _of_module(drafts, module, value, names) or _of_package(drafts.project, module, value, names)
    chosen = chosen or _of_modules(drafts.project, module, value)
    if chosen is None:
        return []
    key, entries, gone = chosen
    if not entries:
        raise Unsupported("no function that it may be is seen", value)
    outermost = next(a for a in (value, *module.ancestors(value)) if module.parent(a) is module.tree)
    assert isinstance(outermost, ast.stmt)
    table = "MODELS"
    while table in module.bound_names:
        table += "_BY_NAME" if table == "MODELS" else "_"
    lines = [f"    {name}: {function}," for name, function in entries]
    made = statements("{table} = {entries}", table=table, entries=code("\n".join(["{", *lines, "}"])))
    changes = [*names.changes, Insert(made, before=outermost, apart=True), Replace(value, code(f"{table}[{key}]"))]
    changes += idle_import(module, gone) if gone is not None else []
    return Change.every((module, change) for change in changes)


def _value(module: Module, node: ast.expr) -> ast.expr:
    """What a name that is bound once stands for."""
    statement = module.assignment(node)
    return statement.value if statement is not None else node


def _of_module(
    drafts: Drafts, module: Module, node: ast.expr, names: OuterNames
) -> tuple[str, list[Entry], ast.expr | None] | None:
    """``getattr(nets, name)`` and ``globals()[name]``."""
    home: Module | None = None
    key: ast.expr | None = None
    if isinstance(node, ast.Call) and _is_builtin(module, node.func, "getattr") and len(node.args) == 2:
        home = drafts.project.module_named(module.qualified(node.args[0]) or "", module)
        key = node.args[1]
    elif isinstance(node, ast.Subscript) and isinstance(node.value, ast.Call):
        if _is_builtin(module, node.value.func, "globals") and not node.value.args:
            home, key = module, node.slice
    if home is None or key is None or isinstance(key, ast.Constant):
        return None
    found = _model_fns(drafts.project, home)
    if home is module and any(f.lineno > node.lineno for f in found):
        raise Unsupported("a function that it may be stands below", node)
    texts = [f.name if home is module else member(drafts, module, node, home, f.name, names, node) for f in found]
    return module.segment(key), [(f'"{f.name}"', text) for f, text in zip(found, texts)], None


def _of_package(
    project: Project, module: Module, node: ast.expr, names: OuterNames
) -> tuple[str, list[Entry], ast.expr | None] | None:
    """``importlib.import_module("nets." + name).model_fn``."""
    if not isinstance(node, ast.Attribute):
        return None
    call = _value(module, node.value)
    if not isinstance(call, ast.Call) or module.resolve(call.func) != "importlib.import_module" or len(call.args) != 1:
        return None
    parts = prefixed(call.args[0])
    if parts is None or not parts[0].endswith(".") or parts[0].startswith("."):
        raise Unsupported("which module is imported is known at run time only", call)
    package = parts[0][:-1]
    entries: list[Entry] = []
    for path, other in sorted(project.modules.items()):
        name = os.path.splitext(os.path.basename(path))[0]
        own = next((f for f in _model_fns(project, other) if f.name == node.attr), None)
        if own is None or project.module_named(f"{package}.{name}", module) is not other:
            continue
        if not any(e.top_level and e.target == f"{package}.{name}" and e.name == name for e in module.imports):
            if name in module.bound_names:
                raise Unsupported(f"`{name}` means something else here", node)
            names.changes.append(Import(f"from {package} import {name}"))
        entries.append((f'"{name}"', f"{name}.{node.attr}"))
    if call is not node.value:  # `nets = import_module(…)` stands above
        assert isinstance(node.value, ast.Name)
        if module.loads_of(node.value.id, module.scope(node.value).lookup(node.value.id)) != [node.value]:
            return module.segment(parts[1]), entries, None
        names.changes.append(Remove(module.statement(call)))
    return module.segment(parts[1]), entries, call.func


def _of_modules(project: Project, module: Module, node: ast.expr) -> tuple[str, list[Entry], ast.expr | None] | None:
    """``{"deep": deep}[name].model_fn``, where `deep` is a module; also of a table that has a name."""
    choice = node.value if isinstance(node, ast.Attribute) else None
    if not isinstance(choice, ast.Subscript):
        return None
    assert isinstance(node, ast.Attribute)
    table = choice.value if isinstance(choice.value, ast.Dict) else None
    if isinstance(choice.value, ast.Name):
        found = display(project, module, choice.value)
        table = found[1] if found is not None and found[0] is module else None
    if table is None or not table.values:
        return None
    entries: list[Entry] = []
    for key, value in zip(table.keys, table.values):
        home = project.module_named(module.qualified(value) or "", module)
        if key is None or home is None or not any(f.name == node.attr for f in _model_fns(project, home)):
            return None
        entries.append((module.segment(key), f"{module.segment(value)}.{node.attr}"))
    return module.segment(choice.slice), entries, None


def _model_fns(project: Project, module: Module) -> list[ast.FunctionDef]:
    """The functions of a module that look like model_fns; those alone that make a spec, where any does.

    Raises Unsupported where one is decorated.
    """
    found = []
    for statement in module.tree.body:
        if isinstance(statement, ast.FunctionDef) and not statement.name.startswith("_"):
            if _ASKED <= {a.arg for a in (*statement.args.args, *statement.args.kwonlyargs)}:
                found.append(statement)
    found = [f for f in found if _makes_spec(project, Definition(module, f))] or found
    for function in found:
        if function.decorator_list:
            raise Unsupported("a decorated model_fn is not followed", function)
    return found


def _makes_spec(project: Project, function: Definition, depth: int = 5) -> bool:
    """Whether a function names an EstimatorSpec, itself or in what it calls."""
    for node in walk(function.node):
        name = node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
        if name.endswith(_SPECS):
            return True
    calls = (node for node in walk(function.node) if isinstance(node, ast.Call) and depth)
    others = (project.definition(function.module, call.func) for call in calls)
    return any(o is not None and o != function and _makes_spec(project, o, depth - 1) for o in others)


def _is_builtin(module: Module, node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name and not module.bindings(node)

"""Registries that decorators of several files fill, or that are objects with a table in them: one place of the program chooses
from them, and gets a table of its own.

    # registry.py                         # main.py
    MODELS = {}                           from nets import deep, registry, wide

    def register(name): …                 network = registry.get(name)

    def get(name):                        becomes
        return MODELS[name]
                                          MODELS = {"deep": deep.network, "wide": wide.network}
    # nets/deep.py
    @register("deep")                     network = MODELS[name]
    def network(x): …
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

from migrator.normalise.draft.draft import Change, Drafts
from migrator.normalise.draft.globals import OuterNames, member
from migrator.normalise.functions.idle import idle_imports, taken_away
from migrator.normalise.names.registries import filled, is_empty, key_of, only_raises
from migrator.normalise.objects.methods import own_method
from migrator.resolve.module import Module
from migrator.resolve.project import Project
from migrator.resolve.syntax import is_name, walk
from migrator.rewrite import Insert, Remove, Replace, Unprintable, code, statements
from migrator.vocabulary.unsupported import Unsupported

_KINDS = (ast.FunctionDef, ast.ClassDef)
_Read = tuple[Module, ast.expr, ast.expr]
"""A place that takes an entry: the file, the expression, and its key."""


@dataclass
class _Registry:
    """A registry that has a name in a file."""

    module: Module
    statement: ast.Assign
    """What makes the table, or the object that has it."""
    name: str
    enters: str
    """The function, or the method, whose decorators fill it."""
    named: bool
    getters: frozenset[str]
    """Functions, or methods, that return the entry of a key."""
    of_object: bool
    entries: list[tuple[str, Module, ast.FunctionDef | ast.ClassDef]] = field(default_factory=list)
    reads: list[_Read] = field(default_factory=list)


def written_out(drafts: Drafts) -> None:
    """Write the table of each such registry where it is read."""
    for path in list(drafts.project.modules):
        for found in list(_registries(drafts.project, drafts.project.modules[path])):
            if drafts.project.modules[path] is not found.module:
                break  # it has changed: the next draft looks again
            if not _is_known(drafts.project, found):
                continue
            try:
                drafts.apply(_changes(drafts, found))
            except (Unsupported, Unprintable):
                continue
            for name in () if found.of_object else (*found.getters, found.enters):
                if path in drafts.project.editable:
                    taken_away(drafts, path, name)
                else:  # a file without TensorFlow stays as it is
                    drafts.apply(idle_imports(drafts.project, drafts.project.modules[path], name))
            drafts.apply(_idle(drafts.project, drafts.project.modules[path], found.name))


def _idle(project: Project, module: Module, name: str) -> list[Change]:
    """The removal of an empty table that nothing reads."""
    root = module.analysis.root
    made = [b.node for b in root.bindings.get(name, [])] if module.path in project.editable else []
    statement = module.parent(made[0]) if len(made) == 1 and made[0] is not None else None
    if not isinstance(statement, ast.Assign) or not is_empty(statement.value):
        return []
    read = project.readers.of(module, root, name) or project.readers.elsewhere(module, root, name)
    return [] if read else Change.of(module, Remove(statement, apart=True))


def _registries(project: Project, module: Module) -> Iterator[_Registry]:
    if b"def " not in module.source:
        return
    functions = [s for s in module.tree.body if isinstance(s, ast.FunctionDef)]
    for function in functions:
        found = filled(function, function.args.args)
        table = module.assignment(found[0]) if found is not None and isinstance(found[0], ast.Name) else None
        if found is not None and isinstance(found[0], ast.Name) and table is not None and is_empty(table.value):
            name = found[0].id
            getters = frozenset(f.name for f in functions if _gets(f, f.args.args, name))
            yield _Registry(module, table, name, function.name, found[1], getters, False)
    for statement in module.tree.body:
        target = statement.targets[0] if isinstance(statement, ast.Assign) else None
        made = statement.value if isinstance(statement, ast.Assign) else None
        if isinstance(statement, ast.Assign) and isinstance(target, ast.Name) and isinstance(made, ast.Call):
            found_object = _object(project, module, statement, target.id, made)
            if found_object is not None:
                yield found_object


def _object(project: Project, module: Module, statement: ast.Assign, name: str, made: ast.Call) -> _Registry | None:
    """The registry that an object of a class of the program is."""
    owner = project.definition(module, made.func)
    if owner is None or not isinstance(owner.node, ast.ClassDef) or owner.node.bases or project.subclasses(owner):
        return None
    methods = [part for part in owner.node.body if isinstance(part, ast.FunctionDef) and part.args.args]
    first = own_method(owner.node, "__init__")
    for method in methods:
        found = filled(method, method.args.args[1:])
        if found is None or first is None or not isinstance(found[0], ast.Attribute):
            continue
        table = ast.unparse(found[0])
        made_empty = (ast.unparse(s.targets[0]) for s in first.body if isinstance(s, ast.Assign) and is_empty(s.value))
        if table not in made_empty:
            continue
        getters = frozenset(m.name for m in methods if _gets(m, m.args.args[1:], table))
        return _Registry(module, statement, name, method.name, found[1], getters, True)
    return None


def _gets(function: ast.FunctionDef, given: list[ast.arg], table: str) -> bool:
    """Whether a function of one parameter returns the entry of that key, but for the error that there is none."""
    body = [s for s in function.body if not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant))]
    body = [statement for statement in body if not only_raises(statement)]
    value = body[0].value if len(body) == 1 and isinstance(body[0], ast.Return) else None
    if function.decorator_list or len(given) != 1 or not isinstance(value, ast.Subscript):
        return False
    return ast.unparse(value.value) == table and is_name(value.slice, given[0].arg)


def _is_known(project: Project, found: _Registry) -> bool:
    """Find what is entered and what is read; False where more is done with the registry, or one file does all."""
    module, root = found.module, found.module.analysis.root
    inside = {id(node) for node in walk(module.tree) if _is_own(module, node, found)}
    for other, node in project.readers.of(module, root, found.name):
        if id(node) not in inside and not _take(other, node, found):
            return False
    for name in () if found.of_object else (found.enters, *found.getters):
        for other, node in project.readers.of(module, root, name):
            if name == found.enters and not _enter(other, node, found):
                return False
            if name != found.enters and not _call(other, node, found):
                return False
    keys = [ast.literal_eval(key) for key, _, _ in found.entries]
    elsewhere = found.of_object or any(other is not module for _, other, _ in found.entries)
    return elsewhere and bool(keys) and len(set(keys)) == len(keys) and len(found.reads) == 1


def _is_own(module: Module, node: ast.AST, found: _Registry) -> bool:
    """Whether a node is part of the functions that fill and read a table, or of what makes it."""
    function = module.nearest(node, ast.FunctionDef)
    while function is not None and module.parent(function) is not module.tree:
        function = module.nearest(function, ast.FunctionDef)
    own = function is not None and not found.of_object and function.name in (found.enters, *found.getters)
    return own or module.is_inside(node, found.statement)


def _take(module: Module, node: ast.expr, found: _Registry) -> bool:
    """Note what is done with the table itself: an entry is read or, of an object, a method is called."""
    outer = module.parent(node)
    if isinstance(outer, ast.Subscript) and outer.value is node and isinstance(outer.ctx, ast.Load):
        found.reads.append((module, outer, outer.slice))
        return not found.of_object or "__getitem__" in found.getters
    if not found.of_object or not isinstance(outer, ast.Attribute):
        return False
    return _enter(module, outer, found) if outer.attr == found.enters else _call(module, outer, found)


def _enter(module: Module, node: ast.expr, found: _Registry) -> bool:
    """Note what a decorator enters."""
    made = module.parent(node) if found.named else node
    holder = module.parent(made) if made is not None else None
    if not isinstance(made, ast.expr) or not isinstance(holder, _KINDS) or holder.decorator_list != [made]:
        return False
    key = key_of(module, made, holder, found.named)
    if key is None or holder not in module.tree.body or len(module.analysis.root.bindings[holder.name]) != 1:
        return False
    found.entries.append((key, module, holder))
    return True


def _call(module: Module, node: ast.expr, found: _Registry) -> bool:
    """Note a call that returns an entry."""
    call = module.parent(node)
    name = node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
    if not isinstance(call, ast.Call) or call.func is not node or len(call.args) != 1 or call.keywords:
        return False
    if found.of_object and name not in found.getters:
        return False
    found.reads.append((module, call, call.args[0]))
    return True


def _changes(drafts: Drafts, found: _Registry) -> list[Change]:
    """The edits that make the table. Raises Unsupported, and Unprintable."""
    ((module, read, key),) = found.reads
    outermost = next(a for a in (read, *module.ancestors(read)) if module.parent(a) is module.tree)
    assert isinstance(outermost, ast.stmt)
    names, lines = OuterNames(), []
    for written, home, holder in sorted(found.entries, key=lambda entry: (entry[1].path, entry[2].lineno)):
        if home is module and holder.lineno > outermost.lineno:
            raise Unsupported("what it may be stands below", read)
        text = holder.name if home is module else member(drafts, module, read, home, holder.name, names, read)
        lines.append(f"    {written}: {text},")
    name = found.name.strip("_") or "MODELS"
    table = found.name if found.module is module and found.of_object else module.unused_name(name, read)
    made = statements("{table} = {entries}", table=table, entries=code("\n".join(["{", *lines, "}"])))
    wanted = [(module, change) for change in names.changes]
    wanted.append((module, Insert(made, before=outermost, apart=True)))
    wanted.append((module, Replace(read, code(f"{table}[{module.segment(key)}]"))))
    for _, home, holder in found.entries:
        wanted.append((home, Replace(holder, home.cst.statement(holder).with_changes(decorators=()))))
    if found.of_object and found.module.path in drafts.project.editable:
        wanted.append((found.module, Remove(found.statement, apart=True)))
    return Change.every(wanted)

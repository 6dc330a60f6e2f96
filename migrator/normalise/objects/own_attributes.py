"""Attributes that a method sets and that nobody else reads: variables of the method.

self.table = tf.get_variable("table", [size, dim])
x = tf.nn.embedding_lookup(self.table, ids)
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from migrator import rewrite
from migrator.normalise.draft.draft import Change
from migrator.normalise.functions.lift import snake
from migrator.normalise.objects.inherited import called, used
from migrator.normalise.objects.methods import Method, method_of
from migrator.normalise.objects.set_first import read_unset
from migrator.normalise.objects.unbox import ancestors
from migrator.resolve.module import Module
from migrator.resolve.project import Project
from migrator.resolve.syntax import walk
from migrator.rewrite import Remove, Replace
from migrator.vocabulary.unsupported import Unsupported


def set_here(method: Method) -> dict[str, list[ast.Attribute]]:
    """What a method does with the attributes of its object that it sets, in source order."""
    own = _own(method)
    uses = [node for node in walk(method.function) if isinstance(node, ast.Attribute) and _is_of(node, own)]
    stored = {node.attr for node in uses if isinstance(node.ctx, ast.Store)}
    found: dict[str, list[ast.Attribute]] = {name: [] for name in sorted(stored)}
    for node in sorted(uses, key=lambda node: (node.lineno, node.col_offset)):
        if node.attr in stored:
            found[node.attr].append(node)
    return found


def reader(project: Project, method: Method) -> tuple[ast.Call, Method] | None:
    """A call of a method of the same object that uses an attribute which `method` sets, itself or in methods that it calls: it
    has to become a part of `method`."""
    own, names = _own(method), set(set_here(method))
    for call in walk(method.function) if names else ():
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute) or not _is_of(call.func, own):
            continue
        other = method_of(project, method.module, call.func)
        if other is None or other.kind != "plain" or other.function is method.function:
            continue
        if any(names.intersection(used(function)) for _, function in called(project, method.owner, other)):
            return call, other
    return None


def as_variables(project: Project, method: Method) -> list[Change]:
    """The edits that make variables of the attributes which a method sets. Raises Unsupported where others may see them."""
    module, function = method.module, method.function
    taken = {n.id for n in walk(function) if isinstance(n, ast.Name)} | {
        a.arg for a in walk(function) if isinstance(a, ast.arg)
    }
    wanted: list[rewrite.Change] = []
    for name, uses in set_here(method).items():
        _check_private(project, method, name, uses)
        _check_first(project, method, name, uses)
        same = _same(method, uses)
        if same is not None:
            wanted.append(Remove(module.statement(uses[0])))
            wanted += [Replace(node, same) for node in uses[1:]]
            continue
        if any(isinstance(a, ast.JoinedStr) for node in uses for a in module.ancestors(node)):
            raise Unsupported(f"`{name}` of the object stands in an f-string", uses[0])
        new = name.strip("_") or name
        if new in taken | module.bound_names:
            new = f"{snake(method.owner.name)}_{new}"
        if new in taken | module.bound_names:
            raise Unsupported(f"`{new}` names an attribute and a variable", uses[0])
        taken.add(new)
        wanted += [Replace(node, new) for node in uses]
    return Change.every((module, change) for change in wanted)


def _same(method: Method, uses: list[ast.Attribute]) -> str | None:
    """The parameter or variable that an attribute is another name of, for good: ``self.mode = mode``."""
    module, function = method.module, method.function
    statement = module.statement(uses[0])
    value = statement.value if isinstance(statement, ast.Assign) and len(statement.targets) == 1 else None
    if not isinstance(value, ast.Name) or any(isinstance(node.ctx, ast.Store) for node in uses[1:]):
        return None
    bound = [binding.node for binding in module.bindings(value)]
    own = len(bound) == 1 and isinstance(bound[0], ast.arg) and module.parent(bound[0]) is function.args
    if not own and module.scope(value).lookup(value.id) is module.scope(function.body[0]):
        binders = [module.statement(node) for node in bound]
        own = statement in function.body and all((node.end_lineno or 0) < statement.lineno for node in binders)
    scope = module.scope(value).lookup(value.id)
    shadowed = any(module.scope(node).lookup(value.id) is not scope for node in uses)
    return value.id if own and not shadowed else None


def _own(method: Method) -> str:
    return method.function.args.args[0].arg


def _is_of(node: ast.Attribute, own: str) -> bool:
    return isinstance(node.value, ast.Name) and node.value.id == own


def _check_private(project: Project, method: Method, name: str, uses: list[ast.Attribute]) -> None:
    """Only the method may use the attribute; ``self.table = None`` in `__init__` says nothing."""
    inside = set(uses)
    for module, node in _attributes(project, name):
        if node not in inside and not _is_none_at_first(module, node):
            raise Unsupported(f"`{name}` of the object is set in a method that makes layers, and used elsewhere", node)


def _attributes(project: Project, name: str) -> Iterator[tuple[Module, ast.Attribute]]:
    for module in project.modules.values():
        if name.encode() in module.source:
            yield from ((module, n) for n in walk(module.tree) if isinstance(n, ast.Attribute) and n.attr == name)


def _is_none_at_first(module: Module, node: ast.Attribute) -> bool:
    statement = module.statement(node)
    function = module.nearest(node, ast.FunctionDef)
    empty = (
        isinstance(statement, ast.Assign)
        and isinstance(statement.value, ast.Constant)
        and statement.value.value is None
    )
    return empty and function is not None and function.name == "__init__"


def _check_first(project: Project, method: Method, name: str, uses: list[ast.Attribute]) -> None:
    """The attribute must be set in this call of the method before it is read."""
    own, stored, module = _own(method), set(set_here(method)), method.module
    begun = len(list(_attributes(project, name))) > len(uses) or any(
        isinstance(part, ast.Name) and part.id == name and isinstance(part.ctx, ast.Store)
        for owner in ancestors(project, method.owner)
        for part in walk(owner.node)
    )

    def settled(test: ast.expr) -> bool:
        if begun or stored.intersection(n.attr for n in walk(test) if isinstance(n, ast.Attribute) and _is_of(n, own)):
            return False
        names = [n for n in walk(test) if isinstance(n, ast.Name) and n.id != own]
        return all(module.scope(n).lookup(n.id) in (None, module.analysis.root) for n in names)

    unset = read_unset(method.function, uses, settled)
    if unset is not None:
        raise Unsupported(f"`{name}` of the object may be read before it is set", unset)

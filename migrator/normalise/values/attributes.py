"""What an attribute of an object of the program is given."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from migrator.normalise.values.callers import Place
from migrator.resolve.module import Module
from migrator.resolve.project import Definition, Project
from migrator.resolve.syntax import is_name
from migrator.vocabulary.unsupported import Unsupported


def attribute_values(project: Project, module: Module, node: ast.Attribute) -> list[Place]:
    """What a method's ``self.name`` may be; nothing where it is not set. Raises Unsupported where not all stores are seen."""
    method = module.nearest(node, ast.FunctionDef)
    owner = module.parent(method) if method is not None else None
    if not isinstance(method, ast.FunctionDef) or not isinstance(owner, ast.ClassDef) or not method.args.args:
        return []
    if method.decorator_list or not is_name(node.value, method.args.args[0].arg):
        return []
    found: list[Place] = []
    for where, store in _stores(project, node.attr):
        holder = where.nearest(store, ast.ClassDef)
        if holder is not owner and not _is_apart(project, Definition(module, owner), where, store):
            raise Unsupported(f"`{node.attr}` may be set elsewhere", store)
        value = stored(where, store) if holder is owner else None
        if value is None and holder is owner:
            raise Unsupported(f"what `{node.attr}` is set to is not seen", store)
        found += [(where, value)] if value is not None else []
    return found


def _stores(project: Project, name: str) -> Iterator[tuple[Module, ast.Attribute]]:
    for module in project.modules.values():
        for node in module.nodes(ast.Attribute) if name.encode() in module.source else ():
            if node.attr == name and not isinstance(node.ctx, ast.Load):
                yield module, node


def _is_apart(project: Project, owner: Definition, module: Module, store: ast.Attribute) -> bool:
    """Whether a store is that of an object of another class."""
    method, holder = module.nearest(store, ast.FunctionDef), module.nearest(store, ast.ClassDef)
    own = isinstance(method, ast.FunctionDef) and bool(method.args.args) and module.parent(method) is holder
    if not own or not isinstance(holder, ast.ClassDef) or not isinstance(method, ast.FunctionDef):
        return False
    other = Definition(module, holder)
    related = other in project.subclasses(owner) or owner in project.subclasses(other)
    return is_name(store.value, method.args.args[0].arg) and not related


def stored(module: Module, store: ast.Attribute) -> ast.expr | None:
    """What an assignment sets an attribute to, perhaps in a tuple: ``self.loss, self.every = loss, every``."""
    statement = next((each for each in module.ancestors(store) if isinstance(each, ast.stmt)), None)
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return None
    target, value = statement.targets[0], statement.value
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
        return next((given for part, given in zip(target.elts, value.elts) if part is store), None)
    return value if target is store else None

"""What methods of one object read of it: the same wherever that is, if nothing changes it once it is there."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from migrator.resolve.module import Module

from ..sources import Place

_CHANGES = frozenset({"clear", "pop", "popitem", "setdefault", "update"})
"""Methods by which a dict is changed."""
_DEEP = 8


def of_same_object(use: Place, node: ast.expr) -> bool:
    """Whether methods of the object that makes an Estimator and uses it read the same: ``self.config["steps"]``."""
    module, part = use.sources[0].module, _part(node)
    if part is None or use.module is not module or any(source.module is not module for source in use.sources):
        return False
    root: ast.expr = use.receiver
    while isinstance(root, ast.Attribute):
        root = root.value
    here, there = _class_of(module, part.value), _class_of(module, root)
    names = {n.id for n in (part.value, root) if isinstance(n, ast.Name)}
    related = (
        here is not None and there is not None and {here, there} & {*_above(module, here)} & {*_above(module, there)}
    )
    return bool(related) and len(names) == 1 and _is_settled(module, part.attr)


def _above(module: Module, owner: ast.ClassDef, depth: int = 0) -> Iterator[ast.ClassDef]:
    """A class, and those of its file that it derives from."""
    yield owner
    for base in owner.bases if depth < _DEEP else ():
        for binding in module.bindings(base) if isinstance(base, ast.Name) else ():
            if isinstance(binding.node, ast.ClassDef):
                yield from _above(module, binding.node, depth + 1)


def _part(node: ast.expr) -> ast.Attribute | None:
    """The part of an object that an expression reads an entry of, or is: ``self.config`` of ``self.config.get("steps", 10)``."""
    if isinstance(node, ast.Call):
        plain = all(isinstance(argument, ast.Constant) for argument in node.args) and not node.keywords
        gets = isinstance(node.func, ast.Attribute) and node.func.attr == "get"
        node = node.func.value if plain and gets and isinstance(node.func, ast.Attribute) else node
    elif isinstance(node, ast.Subscript):
        node = node.value if isinstance(node.slice, ast.Constant) else node
    while isinstance(node, ast.Attribute) and isinstance(node.value, ast.Attribute):
        node = node.value
    return node if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) else None


def _class_of(module: Module, node: ast.expr) -> ast.ClassDef | None:
    """The class whose method a name is the object of."""
    bindings = module.bindings(node) if isinstance(node, ast.Name) else []
    argument = bindings[0].node if len(bindings) == 1 else None
    method = module.parent(module.parent(argument) or argument) if isinstance(argument, ast.arg) else None
    if not isinstance(method, ast.FunctionDef) or method.decorator_list or method.args.args[:1] != [argument]:
        return None
    owner = module.parent(method)
    return owner if isinstance(owner, ast.ClassDef) else None


def _is_settled(module: Module, name: str) -> bool:
    """Whether a part of an object is set once, where it is made, and never changed."""
    stores = []
    for node in module.nodes(ast.Attribute):
        if node.attr != name:
            continue
        outer = module.parent(node)
        entry = isinstance(outer, ast.Subscript) and not isinstance(outer.ctx, ast.Load)
        changed = isinstance(outer, ast.Attribute) and (outer.attr in _CHANGES or not isinstance(outer.ctx, ast.Load))
        if entry or changed:
            return False
        stores += [node] if not isinstance(node.ctx, ast.Load) else []
    maker = module.nearest(stores[0], ast.FunctionDef) if len(stores) == 1 else None
    return isinstance(maker, ast.FunctionDef) and maker.name == "__init__"

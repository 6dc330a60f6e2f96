"""How rules spell TensorFlow names in the file at hand."""

from __future__ import annotations

import ast
from typing import Optional

from migrator.resolve.module import Module
from migrator.rewrite import Import

PLAIN = frozenset({"tensorflow", "tensorflow.compat.v2"})
VERSION_1 = "tensorflow.compat.v1"
CONTRIB_LAYERS = ("tensorflow.contrib.layers.", "tensorflow.contrib.slim.", "tf_slim.", "tf_slim.layers.")
"""What stands before the names of the layers that `tf.contrib.layers`, slim and its successor share."""


def root_name(node: ast.expr) -> ast.Name:
    """The name that a dotted expression starts with."""
    while isinstance(node, ast.Attribute):
        node = node.value
    assert isinstance(node, ast.Name)
    return node


def inner(node: ast.expr, levels: int) -> ast.expr:
    """A dotted expression without its last `levels` attributes."""
    for _ in range(levels):
        assert isinstance(node, ast.Attribute)
        node = node.value
    return node


def whole_name(module: Module) -> Optional[str]:
    """The file's name for TensorFlow as a whole, whichever version; None where it imports but parts of it."""
    names = (e.name for e in module.imports if e.target in {*PLAIN, VERSION_1} and e.name != "*" and e.top_level)
    return next(names, None)


def via_version_1_import(module: Module, node: ast.expr) -> bool:
    """Whether a reference goes through an import of ``tensorflow.compat.v1``, not through a chain from plain `tf`."""
    return any(name.startswith(VERSION_1) for name in module.raw_names(root_name(node)))


def tensorflow_root(module: Module, node: ast.expr) -> Optional[tuple[str, list[Import]]]:
    """Source of plain TensorFlow at `node`, such as ``tf``, with the import that it needs, if any.

    In a file that only knows ``tensorflow.compat.v1``, TensorFlow 2 is its member ``compat.v2``. None where the name
    ``tf`` stands for something else.
    """
    first = root_name(node)
    if module.raw_names(first) and module.raw_names(first) <= PLAIN:
        return first.id, []
    plain = _visible(module, first, PLAIN)
    if plain is not None:
        return plain, []
    if module.raw_names(first) == {VERSION_1}:
        return f"{first.id}.compat.v2", []
    beside = _visible(module, first, frozenset({VERSION_1}))
    if beside is not None:
        return f"{beside}.compat.v2", []
    if "tf" in module.bound_names:
        return None
    return "tf", [Import("import tensorflow as tf")]


def _visible(module: Module, at: ast.Name, targets: frozenset[str]) -> Optional[str]:
    """The file's name for one of the modules, where nothing else has it at a place."""
    scope, root = module.scope(at), module.analysis.root
    for entry in module.imports:
        if entry.target in targets and entry.name != "*" and entry.top_level and scope.lookup(entry.name) is root:
            if {binding.target for binding in root.bindings[entry.name]} <= targets:
                return entry.name
    return None

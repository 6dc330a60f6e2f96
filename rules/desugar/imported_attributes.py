"""Attributes of objects that hold what a file imports of `tf.contrib`, which TensorFlow 2 does not have."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from migrator.normalise.desugaring import Desugaring
from migrator.normalise.draft.draft import Change, Drafts
from migrator.resolve.module import Module
from migrator.resolve.project import Project
from migrator.rewrite import Remove, Replace, code

from ..loop.places import has_its_line


@Desugaring
def expand(drafts: Drafts, paths: Sequence[str]) -> None:
    """Reads what is imported by its own name.

    ```python
    import tensorflow as tf
    from tensorflow.contrib.layers.python.layers import initializers


    class Tagger(object):
        def __init__(self, units):
            self.units = units
            self.initializers = initializers

        def project(self, x):
            return tf.layers.dense(x, self.units, kernel_initializer=self.initializers.xavier_initializer())
    ```
    becomes
    ```python
    import tensorflow as tf
    from tensorflow.contrib.layers.python.layers import initializers


    class Tagger(object):
        def __init__(self, units):
            self.units = units

        def project(self, x):
            return tf.layers.dense(x, self.units, kernel_initializer=initializers.xavier_initializer())
    ```
    """
    drafts.apply_all(sorted(drafts.project.modules), _found)  # the class may stand in another file than the Estimator


def _found(project: Project, module: Module) -> Iterator[list[Change]]:
    """The changes for each attribute."""
    for target in module.nodes(ast.Attribute):
        statement = module.parent(target) if isinstance(target.ctx, ast.Store) else None
        if not isinstance(statement, ast.Assign) or statement.targets != [target]:
            continue
        value = statement.value
        known = isinstance(value, ast.Name) and (module.resolve(value) or "").startswith("tensorflow.contrib.")
        if isinstance(value, ast.Name) and known and has_its_line(module, statement):
            yield _read_by_name(project, module, statement, target, value)


def _read_by_name(
    project: Project, module: Module, statement: ast.Assign, target: ast.Attribute, value: ast.Name
) -> list[Change]:
    """The changes for an attribute; none where another class or another object may have one of its name."""
    owner, root = _owner(module, target), module.analysis.root
    reads: list[ast.Attribute] = []
    for other in project.modules.values():
        if any(f"{quote}{target.attr}{quote}".encode() in other.source for quote in "\"'"):
            return []  # `getattr` may ask for it
        for node in other.nodes(ast.Attribute):
            if node.attr == target.attr and node is not target and other.resolve(node) is None:
                if owner is None or _owner(other, node) is not owner or not isinstance(node.ctx, ast.Load):
                    return []
                reads.append(node)
    hidden = any(module.scope(node).lookup(value.id) is not root for node in (value, *reads))
    if owner is None or hidden or len(root.bindings.get(value.id, [])) != 1:
        return []
    return Change.of(module, Remove(statement), *(Replace(node, code(value.id)) for node in reads))


def _owner(module: Module, node: ast.Attribute) -> ast.AST | None:
    """The class whose method reads an attribute of its object."""
    method = module.nearest(node, ast.FunctionDef)
    if not isinstance(method, ast.FunctionDef) or not method.args.args or not isinstance(node.value, ast.Name):
        return None
    owner = module.parent(method)
    return owner if isinstance(owner, ast.ClassDef) and node.value.id == method.args.args[0].arg else None

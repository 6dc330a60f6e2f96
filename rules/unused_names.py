"""Imports and aliases of TensorFlow 1 names that nothing uses any more."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator

from migrator.diagnostics import Diagnostic, Severity
from migrator.module import Import, Module
from migrator.public_names import is_private
from migrator.rule import Rule
from migrator.symbols import dotted, normalize

from .symbol_rows import endpoints


class UnusedNames(Rule):
    """Remove imports and aliases of TensorFlow 1 modules that are not used any more.

    ## What it does
    Deletes `from tensorflow.contrib import layers`, `gfile = tf.gfile` and the like when nothing in the file reads the
    name and TensorFlow 2 does not have what it stands for, or has it in a private module only, such as
    `tensorflow.python.layers.core`.

    ## Why
    Such a line stops the program with an ImportError or AttributeError, though it serves nothing.

    ## Example
    ```python
    gfile = tf.gfile
    tf.io.gfile.makedirs(path)
    ```
    becomes
    ```python
    tf.io.gfile.makedirs(path)
    ```

    ## Fix safety
    Safe: nothing reads the name. Names listed in `__all__`, and the imports of an `__init__.py`, stay.
    """

    code = "EST006"
    name = "unused-names"

    def check_module(self, module: Module) -> Iterator[Diagnostic]:
        """One diagnostic for each line that can go."""
        if module.path.endswith("__init__.py") or "__all__" in module.analysis.root.bindings:
            return
        for entry in module.imports:
            target = normalize(entry.target)
            gone = entry.name != "*" and (is_gone(target) or is_private(entry.target))
            if gone and ((entry.scope, entry.name) not in module.names_read or _is_replaced(module, entry)):
                yield from self._import(module, entry)
        if not module.star_import:
            yield from self._aliases(module)

    def _import(self, module: Module, entry: Import) -> Iterator[Diagnostic]:
        statement = entry.statement
        assert isinstance(statement, (ast.Import, ast.ImportFrom))
        replaced = _is_replaced(module, entry)
        if len(entry.scope.bindings[entry.name]) > 1 + replaced or isinstance(module.parent(statement), ast.Try):
            return
        target = normalize(entry.target)
        why = f"TensorFlow 2 has no {target}" if is_gone(target) else f"{entry.target} is private to TensorFlow"
        message = f"{entry.name} is not used, and {why}"
        if len(statement.names) == 1:
            edit = module.delete_statement(statement)
        else:
            if module.comments_in(*module.span(statement)):
                return
            rest = [module.segment(alias) for alias in statement.names if alias is not entry.alias]
            head = f"from {statement.module} import" if isinstance(statement, ast.ImportFrom) else "import"
            edit = module.edit(statement, f"{head} {', '.join(rest)}")
        yield self.diagnostic(module, statement, message, [edit], severity=Severity.INFO)

    def _aliases(self, module: Module) -> Iterator[Diagnostic]:
        for node in module.tree.body:
            if not isinstance(node, ast.Assign) or len(node.targets) != 1 or not isinstance(node.targets[0], ast.Name):
                continue
            name = node.targets[0].id
            target = module.resolve(node.value) if dotted(node.value) else None
            root = module.analysis.root
            if target is None or not is_gone(target) or len(root.bindings[name]) != 1:
                continue
            if (root, name) in module.names_read:
                continue
            message = f"{name} is not used, and TensorFlow 2 has no {target}"
            edit = module.delete_statement(node)
            yield self.diagnostic(module, node, message, [edit], severity=Severity.INFO)


def _is_replaced(module: Module, entry: Import) -> bool:
    """Whether a later import of the module binds the name anew before any line reads it: that of a vendored helper."""
    body = module.tree.body
    others = [other for other in module.imports if other.scope is entry.scope and other.name == entry.name]
    if len(others) != 2 or others[0] is not entry or any(other.statement not in body for other in others):
        return False
    first, last = (body.index(other.statement) for other in others)
    between = body[first + 1 : last]
    return all(isinstance(statement, (ast.Import, ast.ImportFrom)) for statement in between)


@functools.cache
def is_gone(name: str) -> bool:
    """Whether TensorFlow 2 has neither this name nor a module of this name."""
    if name.startswith(_GONE):
        return True
    first, _, short = name.partition(".")
    if first != "tensorflow" or short not in _MODULES:
        return False
    table = endpoints()
    known = (*table.same, *table.changed, *table.moved.values())
    return not any(other == short or other.startswith(short + ".") for other in known)


_OF_KERAS = ("applications", "datasets", "preprocessing", "wrappers")
_GONE = (
    "tensorflow.contrib", "tensorflow.estimator", "tensorflow.python.estimator", "tensorflow_estimator",
    *(f"tensorflow.python.keras.{module}" for module in _OF_KERAS),
)  # fmt: skip

# Aliases of functions are left to the rules that know their successors.
_MODULES = frozenset({"gfile", "logging", "flags", "app", "app.flags", "python_io", "layers", "contrib", "spectral"})

"""Imports and aliases of TensorFlow 1 names that nothing uses any more."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator

from migrator.engine.rule import Rule
from migrator.resolve.module import Import as Entry
from migrator.resolve.module import Module
from migrator.resolve.public_names import is_private
from migrator.resolve.symbols import dotted, normalize
from migrator.rewrite import Change, Import, Remove
from migrator.vocabulary.diagnostics import Diagnostic, Severity

from .absent_names import lacks
from .symbol_rows import endpoints, find_row


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
        found: dict[ast.stmt, list[Entry]] = {}
        for entry in module.imports:
            unread = (entry.scope, entry.name) not in module.names_read or _is_replaced(module, entry)
            if entry.name != "*" and unread and _cannot_stay(entry):
                found.setdefault(entry.statement, []).append(entry)
        for statement, entries in found.items():
            yield from self._import(module, statement, entries)
        if not module.star_import:
            yield from self._aliases(module)

    def _import(self, module: Module, statement: ast.stmt, entries: list[Entry]) -> Iterator[Diagnostic]:
        """A statement without those of its names that nothing reads."""
        assert isinstance(statement, (ast.Import, ast.ImportFrom))
        entries = [e for e in entries if len(e.scope.bindings[e.name]) == 1 + _is_replaced(module, e)]
        rest = [alias for alias in statement.names if all(alias is not entry.alias for entry in entries)]
        if not entries or isinstance(module.parent(statement), ast.Try):
            return
        if rest and module.comments_in(*module.span(statement)):
            return
        names, targets = [entry.name for entry in entries], [normalize(entry.target) for entry in entries]
        if all(_is_absent(entry) for entry in entries):
            why = f"TensorFlow 2 has no {', '.join(targets)}"
        else:
            why = f"{', '.join(entry.target for entry in entries)} is private to TensorFlow"
        message = f"{', '.join(names)} {'is' if len(names) == 1 else 'are'} not used, and {why}"
        change: Change
        if rest:
            kept = ", ".join(module.segment(alias) for alias in rest)
            head = (
                f"from {'.' * statement.level}{statement.module} import"
                if isinstance(statement, ast.ImportFrom)
                else "import"
            )
            change = Import(f"{head} {kept}", instead=statement)
        else:
            change = Remove(statement)
        yield self.diagnostic(module, statement, message, changes=[change], severity=Severity.INFO)

    def _aliases(self, module: Module) -> Iterator[Diagnostic]:
        for node in module.tree.body:
            if not isinstance(node, ast.Assign) or len(node.targets) != 1 or not isinstance(node.targets[0], ast.Name):
                continue
            name = node.targets[0].id
            target = module.resolve(node.value) if dotted(node.value) else None
            root = module.analysis.root
            if target is None or len(root.bindings[name]) != 1:
                continue
            if not is_gone(target) and not _stops(module, node.value, target):
                continue
            if (root, name) in module.names_read:
                continue
            message = f"{name} is not used, and TensorFlow 2 has no {target}"
            yield self.diagnostic(module, node, message, changes=[Remove(node)], severity=Severity.INFO)


def _stops(module: Module, value: ast.expr, target: str) -> bool:
    """Whether a line that reads a name ends in an error under TensorFlow 2, and no rule gives that another name."""
    spelled, short = module.raw_names(value), target.partition(".")[2]
    known = short in endpoints().gone or short in endpoints().moved  # no attribute of what is known, as `FLAGS.steps`
    return bool(spelled) and all(map(lacks, spelled)) and known and find_row(short) is None


def _cannot_stay(entry: Entry) -> bool:
    """Whether an import stops the program under TensorFlow 2, now or with its next version."""
    return _is_absent(entry) or is_private(entry.target)


def _is_absent(entry: Entry) -> bool:
    """Whether TensorFlow 2 does not have what is imported."""
    return is_gone(normalize(entry.target)) or isinstance(entry.statement, ast.ImportFrom) and lacks(entry.target)


def _is_replaced(module: Module, entry: Entry) -> bool:
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

"""References to the names of the modes, in files that hold a program."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from migrator.resolve.module import Module

from ..symbols.tensorflow_names import root_name

if TYPE_CHECKING:
    from ..estimator_calls.file_edits import FileEdits

_KEYS = "tensorflow.estimator.ModeKeys"


def mode_reference(driver: FileEdits, node: ast.expr, short: str) -> None:
    """Write ``ModeKeys`` or ``ModeKeys.TRAIN``. An alias of them stays, unless the import of the helper takes its place."""
    module = driver.module
    if reads_alias(module, node):
        driver.handled.add(node)  # what it reads is written there
        return
    text = driver.need("ModeKeys", node) + short[len("ModeKeys") :]
    statement = module.parent(node)
    if isinstance(statement, ast.Assign) and statement in module.tree.body and len(statement.targets) == 1:
        if text == module.segment(statement.targets[0]):
            driver.handled.add(node)
            driver.edits.append(module.delete_statement(statement))
            return
    driver.replace(node, text)


def reads_alias(module: Module, node: ast.expr) -> bool:
    """Whether a reference begins with a name that the file gives the modes, or one of them."""
    bound = module.bindings(root_name(node))
    alias = bound[0].alias if len(bound) == 1 else None
    return alias is not None and (module.resolve(alias) or "").startswith(_KEYS)

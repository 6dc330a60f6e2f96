"""References to the names of the modes, in files that hold a program."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from migrator.analyse.statements.modes import mode_of_symbol
from migrator.emit.polishing.polish import quoted
from migrator.resolve.module import Module
from migrator.resolve.project import Project

from ..symbols.tensorflow_names import root_name

if TYPE_CHECKING:
    from ..estimator_calls.file_edits import FileEdits

_KEYS = "tensorflow.estimator.ModeKeys"


def mode_reference(driver: FileEdits, node: ast.expr, short: str) -> None:
    """Write ``ModeKeys`` or ``ModeKeys.TRAIN``. An alias of them stays, unless the import of the helper takes its place."""
    module = driver.module
    if driver.plain and (text := _as_string(module, node)):
        driver.replace(node, text)
        return
    if reads_alias(module, node):
        driver.handled.add(node)  # what it reads is written there
        return
    if driver.plain and (alias := _alias(driver.project, module, node)) is not None:
        driver.handled.add(node)
        driver.edits.append(module.delete_statement(alias))
        return
    text = driver.need("ModeKeys", node) + short[len("ModeKeys") :].replace("INFER", "PREDICT")  # as tf.contrib has it
    statement = module.parent(node)
    if isinstance(statement, ast.Assign) and statement in module.tree.body and len(statement.targets) == 1:
        if text == module.segment(statement.targets[0]):
            driver.handled.add(node)
            driver.edits.append(module.delete_statement(statement))
            return
    driver.replace(node, text)


def _as_string(module: Module, node: ast.AST) -> str:
    """What to write for a mode; nothing where only its name will do."""
    mode, parent = mode_of_symbol(module.resolve(node) or ""), module.parent(node)
    if mode is None or not isinstance(node, ast.Attribute) or module.nearest(node, ast.JoinedStr) is not None:
        return ""
    compared = isinstance(parent, ast.Compare) and any(isinstance(op, (ast.Is, ast.IsNot)) for op in parent.ops)
    return "" if compared else quoted(f'"{mode}"', module)


def _alias(project: Project, module: Module, node: ast.expr) -> ast.stmt | None:
    """The statement that gives the modes another name, if all that reads it becomes strings."""
    statement = module.parent(node)
    if not isinstance(statement, ast.Assign) or statement not in module.tree.body or len(statement.targets) != 1:
        return None
    target = statement.targets[0]
    if not isinstance(target, ast.Name):
        return None
    readers = project.readers.of(module, module.scope(target).holder(target.id), target.id)
    strings = (where is module and _as_string(where, where.parent(read) or read) for where, read in readers)
    return statement if all(strings) else None


def reads_alias(module: Module, node: ast.expr) -> bool:
    """Whether a reference begins with a name that the file gives the modes, or one of them."""
    bound = module.bindings(root_name(node))
    alias = bound[0].alias if len(bound) == 1 else None
    return alias is not None and (module.resolve(alias) or "").startswith(_KEYS)

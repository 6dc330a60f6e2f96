"""``tf = tf.compat.v1`` after ``import tensorflow as tf``: one import says the same."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING, Optional

from migrator.engine.rule import Rule
from migrator.resolve.module import Import as Entry
from migrator.resolve.module import Module
from migrator.resolve.symbols import dotted
from migrator.rewrite import Import, Remove, Replace
from migrator.vocabulary.diagnostics import Diagnostic, Severity

from .compat_v1 import SWITCHES
from .tensorflow_names import PLAIN, VERSION_1

if TYPE_CHECKING:
    from typing_extensions import TypeGuard

_VERSIONS = frozenset({"tensorflow.__version__", "tensorflow.VERSION", "tensorflow.version.VERSION"})


class ReboundTensorFlow(Rule):
    """Import `tensorflow.compat.v1` at once instead of binding the name of TensorFlow again.

    ## What it does
    `import tensorflow as tf` followed by `tf = tf.compat.v1`, or by the import of that, alone, under a condition on the version
    or in a `try`, becomes `import tensorflow.compat.v1 as tf`. So does a condition on the version with either import in its arms.

    ## Why
    A name with two values stands for neither: nothing else in the file could be migrated.

    ## Example
    ```python
    import tensorflow as tf
    if tf.__version__ >= "2.0":
        tf = tf.compat.v1
    ```
    becomes
    ```python
    import tensorflow.compat.v1 as tf
    ```

    ## Fix safety
    Safe: TensorFlow 1 from 1.13 on has `compat.v1`, which is the whole of it. Where anything else reads the name in
    between, or the condition is about something else, the lines stay.
    """

    code = "EST008"
    name = "rebound-tensorflow"
    clarifies = True

    def check_module(self, module: Module) -> Iterator[Diagnostic]:
        """One diagnostic for each name that is bound twice."""
        for entry in module.imports:
            if entry.target not in PLAIN or entry.name == "*" or entry.statement not in module.tree.body:
                continue
            assert isinstance(entry.statement, (ast.Import, ast.ImportFrom))
            found = _rebinding(module, entry)
            if found is None or len(entry.statement.names) > 1 or not _alone(module, entry, found[0]):
                continue
            statement, switches = found
            kept = [module.cst.statement(switch) for switch in switches]
            changes = [
                Import(f"import {VERSION_1} as {entry.name}", instead=entry.statement),
                Replace(statement, kept) if kept else Remove(statement),
            ]
            message = f"{entry.name} is {VERSION_1}: imported as such"
            yield self.diagnostic(module, statement, message, changes=changes, severity=Severity.INFO)
        for choice in module.tree.body:
            found_arm = _version_1_arm(module, choice)
            if found_arm is not None:
                name, arm = found_arm
                change = Replace(choice, [module.cst.statement(statement) for statement in arm])
                message = f"{name} is {VERSION_1}: imported as such"
                yield self.diagnostic(module, choice, message, changes=[change], severity=Severity.INFO)


def _version_1_arm(module: Module, node: ast.stmt) -> Optional[tuple[str, list[ast.stmt]]]:
    """The arm that imports version 1, where the other imports TensorFlow under the same name and the version decides."""
    if not isinstance(node, ast.If) or not node.orelse or module.comments_in(*module.span(node)):
        return None
    if not any(
        isinstance(part, ast.Attribute) and (module.resolve(part) or "") in _VERSIONS for part in ast.walk(node.test)
    ):
        return None
    arms = {}
    for arm in (node.body, node.orelse):
        imported = [entry for entry in module.imports if entry.statement is arm[0]]
        if len(imported) != 1 or not all(_is_switch(statement, imported[0].name) for statement in arm[1:]):
            return None
        arms[imported[0].target] = imported[0].name, arm
    name, arm = arms.get(VERSION_1, ("", []))
    plain = next((arms[target][0] for target in arms if target in PLAIN), None)
    return (name, arm) if arm and plain == name and len(module.analysis.root.bindings[name]) == len(arms) else None


def _rebinding(module: Module, entry: Entry) -> Optional[tuple[ast.stmt, list[ast.Expr]]]:
    """The statement that binds the name again, with its condition, and the switches of TensorFlow in that."""
    others = [binding.node for binding in entry.scope.bindings[entry.name] if binding.node is not entry.statement]
    rebound = others[0] if len(others) == 1 else None
    if isinstance(rebound, (ast.Import, ast.ImportFrom)):
        again = [other.target for other in module.imports if other.statement is rebound]
        if again != [VERSION_1]:
            return None
    elif not isinstance(rebound, ast.Assign) or dotted(rebound.value) != f"{entry.name}.compat.v1":
        return None
    if rebound in module.tree.body:
        return rebound, []
    outer = module.parent(rebound)
    if isinstance(outer, ast.Try) and outer in module.tree.body and outer.body[0] is rebound and _only_tries(outer):
        switches = [statement for statement in outer.body[1:] if _is_switch(statement, entry.name)]
        return (outer, switches) if len(switches) == len(outer.body) - 1 else None
    if not isinstance(outer, ast.If) or outer not in module.tree.body or outer.orelse or outer.body[0] is not rebound:
        return None
    tested = {node.id for node in ast.walk(outer.test) if isinstance(node, ast.Name)}
    switches = [statement for statement in outer.body[1:] if _is_switch(statement, entry.name)]
    if entry.name not in tested or len(switches) < len(outer.body) - 1:
        return None
    return outer, switches


def _only_tries(node: ast.Try) -> bool:
    """Whether nothing happens where TensorFlow has no `compat.v1`."""
    caught = [handler.type.id for handler in node.handlers if isinstance(handler.type, ast.Name)]
    quiet = all(isinstance(s, ast.Pass) for handler in node.handlers for s in handler.body)
    return caught == ["AttributeError"] and quiet and not node.orelse and not node.finalbody


def _is_switch(node: ast.stmt, name: str) -> TypeGuard[ast.Expr]:
    """Whether a statement is ``tf.disable_v2_behavior()`` or a relative of it."""
    if not isinstance(node, ast.Expr) or not isinstance(node.value, ast.Call) or node.value.args:
        return False
    return dotted(node.value.func) in {f"{name}.{switch}" for switch in SWITCHES}


def _alone(module: Module, entry: Entry, statement: ast.stmt) -> bool:
    """Whether nothing but the statement itself, and what asks for the version, reads the name before the statement."""
    start, end = module.span(statement)
    if start < module.span(entry.statement)[1] or module.comments_in(start, end):
        return False
    inside = set(ast.walk(statement))
    for load in module.loads(entry.name):
        parent = module.parent(load)
        version = isinstance(parent, ast.Attribute) and parent.attr in ("__version__", "VERSION")
        if load not in inside and module.span(load)[0] < end and not version:
            return False
    return True

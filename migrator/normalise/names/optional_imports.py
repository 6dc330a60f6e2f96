"""``try: import tensorflow.compat.v1 as tf`` with a plain import for releases before 1.13: only the first one is left."""

from __future__ import annotations

import ast
import contextlib
from collections.abc import Sequence

from migrator.normalise.desugaring import Desugaring
from migrator.normalise.draft.draft import Change, Drafts
from migrator.resolve.module import Module
from migrator.rewrite import Replace, Unprintable

_VERSION_1 = "tensorflow.compat.v1"
_ERRORS = frozenset({"ImportError", "ModuleNotFoundError", "AttributeError", "Exception"})


@Desugaring
def expand(drafts: Drafts, paths: Sequence[str]) -> None:
    """Take the arm that every TensorFlow takes that can run the migrated program.

    ```python
    try:
        import tensorflow.compat.v1 as tf
    except ImportError:
        import tensorflow as tf
    ```
    becomes
    ```python
    import tensorflow.compat.v1 as tf
    ```
    """
    changes: list[Change] = []
    for path in paths:
        module = drafts.project.modules[path]
        if _VERSION_1.encode() in module.source or b"import v1" in module.source:
            for node in module.tree.body:
                if isinstance(node, ast.Try) and _is_choice(module, node):
                    with contextlib.suppress(Unprintable):  # which stays
                        kept = [module.cst.statement(statement) for statement in node.body]
                        changes += Change.of(module, Replace(node, kept))
    if changes:
        drafts.apply(changes)


def _is_choice(module: Module, node: ast.Try) -> bool:
    """Whether a statement imports one of two TensorFlows under one name, and does nothing but switch the first one."""
    first, *switches = node.body
    name = _imported(module, first, _VERSION_1)
    if name is None or node.orelse or node.finalbody or len(node.handlers) != 1 or len(node.handlers[0].body) != 1:
        return False
    handler = node.handlers[0]
    kind = handler.type
    if kind is not None and not (isinstance(kind, ast.Name) and kind.id in _ERRORS):
        return False
    if _imported(module, handler.body[0], "tensorflow") != name:
        return False
    return all(_is_switch(statement, name) for statement in switches)


def _imported(module: Module, statement: ast.stmt, target: str) -> str | None:
    """The one name that a statement binds to a module."""
    found = [entry for entry in module.imports if entry.statement is statement]
    return found[0].name if len(found) == 1 and found[0].target == target else None


def _is_switch(statement: ast.stmt, name: str) -> bool:
    """``tf.disable_v2_behavior()``."""
    call = statement.value if isinstance(statement, ast.Expr) else None
    if not isinstance(call, ast.Call) or call.args or call.keywords or not isinstance(call.func, ast.Attribute):
        return False
    owner = call.func.value
    return isinstance(owner, ast.Name) and owner.id == name and call.func.attr.startswith(("disable_", "enable_"))

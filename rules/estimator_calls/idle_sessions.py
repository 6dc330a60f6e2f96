"""Sessions beside Estimators that only initialize variables: Estimators have sessions and graphs of their own."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from migrator.normalise.desugaring import Desugaring
from migrator.normalise.draft.draft import Change, Drafts
from migrator.normalise.draft.returns import own_nodes
from migrator.resolve.module import Module
from migrator.resolve.syntax import walk
from migrator.rewrite import Change as Rewrite
from migrator.rewrite import Remove, Replace

from .sessions import PLAIN

_INITIALIZERS = frozenset(
    f"tensorflow.{name}"
    for name in (
        "global_variables_initializer", "local_variables_initializer", "tables_initializer", "initialize_all_variables",
        "initialize_local_variables", "initialize_all_tables", "initializers.global_variables",
        "initializers.local_variables", "initializers.tables_initializer",
    )
)  # fmt: skip
_CHECKED = frozenset({"eval", "run", "as_default"})
"""Methods that need a session, whatever has them."""
_NEEDED = (
    "get_default_session",
    "get_default_graph",
    "train.Saver",
    "Variable",
    "get_variable",
    "placeholder",
    "Module",
)
"""Names of what works with a session."""
_TOLD = "a session beside the Estimator that only initialized variables is left out"


@Desugaring
def expand(drafts: Drafts, paths: Sequence[str]) -> None:
    """Leaves such sessions out.

    ```python
    import tensorflow as tf


    def main(estimator, input_fn):
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            estimator.train(input_fn, steps=100)
    ```
    becomes
    ```python
    import tensorflow as tf


    def main(estimator, input_fn):
        estimator.train(input_fn, steps=100)
    ```
    """
    drafts.apply_all(paths, lambda _, module: _found(drafts, module))


def _found(drafts: Drafts, module: Module) -> Iterator[list[Change]]:
    """The changes for each of them."""
    if b"Session(" not in module.source or b"stimator" not in module.source:
        return
    for node in walk(module.tree):
        made, held, body = _session(node)
        name = module.resolve(made.func) if made is not None else None
        if made is None or held is None or name not in PLAIN or (not body and name != "tensorflow.Session"):
            continue  # an interactive one is there for what follows
        idle = _idle(module, held)
        if idle is None or not _needs_none(module, body, idle):
            continue
        changes: list[Rewrite]
        if isinstance(node, ast.With):
            left = [each for each in body if each not in idle]
            outer = [Remove(each) for each in idle if each not in body]
            changes = [*outer, Replace(node, module.cst.statements(left)) if left else Remove(node)]
        else:
            assert isinstance(node, ast.Assign)
            changes = [Remove(node), *map(Remove, idle)]
        found = Change.of(module, *changes)
        if found:
            drafts.remark(module, made, _TOLD)
        yield found


def _session(node: ast.AST) -> tuple[ast.Call | None, ast.Name | None, list[ast.stmt]]:
    """What may make a session, its name, and the statements that it is entered for."""
    if isinstance(node, ast.With) and len(node.items) == 1:
        made, held = node.items[0].context_expr, node.items[0].optional_vars
    elif isinstance(node, ast.Assign) and len(node.targets) == 1:
        made, held = node.value, node.targets[0]
    else:
        return None, None, []
    body = node.body if isinstance(node, ast.With) else []
    return (made if isinstance(made, ast.Call) else None), (held if isinstance(held, ast.Name) else None), body


def _idle(module: Module, held: ast.Name) -> list[ast.stmt] | None:
    """All that is done with a session, if that is to initialize variables and to be closed."""
    scope = module.scope(held).holder(held.id)
    if len(scope.bindings.get(held.id, [])) != 1:
        return None
    found: list[ast.stmt] = []
    for load in module.loads_of(held.id, scope):
        attribute = module.parent(load)
        call = module.parent(attribute) if isinstance(attribute, ast.Attribute) else None
        statement = module.parent(call) if isinstance(call, ast.Call) and call.func is attribute else None
        if (
            not isinstance(statement, ast.Expr)
            or not isinstance(call, ast.Call)
            or not isinstance(attribute, ast.Attribute)
        ):
            return None
        closes = attribute.attr == "close" and not call.args
        starts = (
            attribute.attr == "run" and len(call.args) == 1 and not call.keywords and _initializes(module, call.args[0])
        )
        if not closes and not starts:
            return None
        found.append(statement)
    return found


def _initializes(module: Module, node: ast.expr) -> bool:
    """Whether what a session runs only initializes variables and tables."""
    if isinstance(node, (ast.List, ast.Tuple)):
        return all(_initializes(module, part) for part in node.elts)
    if isinstance(node, ast.Call) and module.resolve(node.func) == "tensorflow.group":
        return all(_initializes(module, part) for part in node.args)
    return isinstance(node, ast.Call) and module.resolve(node.func) in _INITIALIZERS


def _needs_none(module: Module, body: list[ast.stmt], idle: list[ast.stmt]) -> bool:
    """Whether nothing else in the block of a session works with one."""
    rest = [each for each in body if each not in idle]
    for node in own_nodes(rest):
        if (
            isinstance(node, ast.Attribute)
            and node.attr in _CHECKED
            and (module.resolve(node) or "") != "tensorflow.app.run"
        ):
            return False
        name = module.resolve(node) if isinstance(node, (ast.Attribute, ast.Name)) else None
        if name is not None and name.startswith("tensorflow") and name.endswith(_NEEDED):
            return False
    return True

"""Lists of variables that a loop fills, or a filter chooses, as comprehensions."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from migrator import rewrite
from migrator.analyse.statements.negation import negated
from migrator.normalise.desugaring import Desugaring
from migrator.normalise.draft.draft import Change, Drafts
from migrator.resolve.module import Module
from migrator.resolve.reaching import block_of
from migrator.resolve.syntax import is_name, walk
from migrator.rewrite import Remove, Replace, Statement, expr, statements

if TYPE_CHECKING:
    import libcst as cst

_LISTS = frozenset({"tensorflow.trainable_variables", "tensorflow.get_collection"})


@Desugaring
def expand(drafts: Drafts, module: Module, function: ast.FunctionDef) -> list[Change]:
    """The changes for one such loop of a function; none where it does more.

    ```python
    import tensorflow as tf


    def wide_and_deep():
        wide, deep = [], []
        for v in tf.trainable_variables():
            if "wide" in v.name:
                wide.append(v)
            else:
                deep.append(v)
        return wide, deep
    ```
    becomes
    ```python
    import tensorflow as tf


    def wide_and_deep():
        wide = [v for v in tf.trainable_variables() if "wide" in v.name]
        deep = [v for v in tf.trainable_variables() if "wide" not in v.name]
        return wide, deep
    ```

    So are filters by a lambda.

    ```python
    import tensorflow as tf


    def wide():
        return list(filter(lambda v: "wide" in v.name, tf.trainable_variables()))
    ```
    becomes
    ```python
    import tensorflow as tf


    def wide():
        return [v for v in tf.trainable_variables() if "wide" in v.name]
    ```
    """
    for node in walk(function):
        if isinstance(node, ast.For) and not node.orelse and isinstance(node.target, ast.Name):
            changes = _loop(module, function, node, node.target.id)
        elif isinstance(node, ast.Call) and is_name(node.func, "list") and len(node.args) == 1 and not node.keywords:
            changes = _filtered(module, node, node.args[0])
        else:
            continue
        if changes:
            return changes
    return []


def _lists(module: Module, node: ast.expr) -> bool:
    """Whether an expression lists variables, whatever runs before."""
    made = module.assignment(node) if isinstance(node, ast.Name) else None
    call = made.value if made is not None else node
    return isinstance(call, ast.Call) and module.resolve(call.func) in _LISTS


def _filtered(module: Module, call: ast.Call, inner: ast.expr) -> list[Change]:
    """``list(filter(lambda v: …, tf.trainable_variables()))``."""
    if not isinstance(inner, ast.Call) or not is_name(inner.func, "filter") or len(inner.args) != 2 or inner.keywords:
        return []
    kept, every = inner.args
    if not isinstance(kept, ast.Lambda) or len(kept.args.args) != 1 or not _lists(module, every):
        return []
    if kept.args.defaults or kept.args.vararg or kept.args.kwarg or kept.args.kwonlyargs or kept.args.posonlyargs:
        return []
    target = kept.args.args[0].arg
    new = expr(
        f"[{target} for {target} in {{every}} if {{test}}]",
        every=module.cst.expression(every), test=module.cst.expression(kept.body),
    )  # fmt: skip
    return Change.of(module, Replace(call, new))


def _loop(module: Module, function: ast.FunctionDef, loop: ast.For, target: str) -> list[Change]:
    """A loop that does nothing but to put each variable into one of several new lists."""
    if len(loop.body) != 1 or not isinstance(loop.body[0], ast.If) or not _lists(module, loop.iter):
        return []
    arms = list(_arms(loop.body[0], [], target))
    names = [name for name, _ in arms]
    if None in names or len(set(names)) < len(names) or module.indent(loop) is None:
        return []
    block = block_of(module, loop)
    above = block[: block.index(loop)]
    begun = [_begun(module, name or "", above) for name in names]
    if any(one is None or not isinstance(one, ast.Assign) for one in begun):
        return []
    changes: list[rewrite.Change] = []
    for statement in dict.fromkeys(begun):
        assert isinstance(statement, ast.Assign)
        held = {n.id for n in walk(statement) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        if not held <= set(names):
            return []
        changes.append(Remove(statement))
    outside = [n for n in walk(function) if is_name(n, target) and not module.is_inside(n, loop)]
    if any(not any(getattr(a, "generators", None) for a in module.ancestors(n)) for n in outside):
        return []  # the last variable is read below
    rows: list[Statement] = []
    for name, tests in arms:
        holes = {f"test_{i}": _asked(module, *test) for i, test in enumerate(tests)}
        text = " and ".join(f"{{{hole}}}" for hole in holes)
        rows += statements(
            f"{name} = [{target} for {target} in {{every}} if {text}]", every=module.cst.expression(loop.iter), **holes
        )
    return Change.of(module, *changes, Replace(loop, rows))


def _asked(module: Module, test: ast.expr, wanted: bool) -> cst.BaseExpression:
    """A test, or its opposite."""
    return module.cst.expression(test) if wanted else expr(negated(test, module.segment))


def _arms(
    node: ast.If, above: list[tuple[ast.expr, bool]], target: str
) -> Iterator[tuple[str | None, list[tuple[ast.expr, bool]]]]:
    """The list that each arm fills, and what decides for it; None for an arm that does something else."""
    yield _filled(node.body, target), [*above, (node.test, True)]
    below = [*above, (node.test, False)]
    if len(node.orelse) == 1 and isinstance(node.orelse[0], ast.If):
        yield from _arms(node.orelse[0], below, target)
    elif node.orelse:
        yield _filled(node.orelse, target), below


def _filled(body: list[ast.stmt], target: str) -> str | None:
    """``wide`` of ``wide.append(v)``."""
    call = body[0].value if len(body) == 1 and isinstance(body[0], ast.Expr) else None
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute) or call.func.attr != "append":
        return None
    plain = len(call.args) == 1 and is_name(call.args[0], target) and not call.keywords
    return call.func.value.id if plain and isinstance(call.func.value, ast.Name) else None


def _begun(module: Module, name: str, above: list[ast.AST]) -> ast.AST | None:
    """The statement that makes an empty list of a name, with nothing between it and the loop that knows of it."""
    for statement in reversed(above):
        if not any(is_name(node, name) for node in walk(statement)):
            continue
        target = statement.targets[0] if isinstance(statement, ast.Assign) and len(statement.targets) == 1 else None
        value = statement.value if isinstance(statement, ast.Assign) else None
        targets = target.elts if isinstance(target, ast.Tuple) else [target]
        values = value.elts if isinstance(value, ast.Tuple) else [value]
        empty = all(isinstance(one, ast.List) and not one.elts for one in values)
        return (
            statement
            if empty and len(targets) == len(values) and all(isinstance(t, ast.Name) for t in targets)
            else None
        )
    return None

"""A value that is one of two, where it is known which."""

from __future__ import annotations

import ast
import functools

from migrator.analyse.function.translate import is_none
from migrator.normalise.desugaring import Desugaring
from migrator.normalise.draft.draft import Change, Drafts
from migrator.resolve.module import Module
from migrator.resolve.syntax import walk
from migrator.rewrite import Remove, Replace, Statement, expr

_NEVER_NONE = (ast.Compare, ast.List, ast.Tuple, ast.Dict, ast.JoinedStr)


@Desugaring
def expand(drafts: Drafts, module: Module, function: ast.FunctionDef) -> list[Change]:
    """``own or every`` is `own` where that is a function, and `every` where it is None.

    ```python
    def train(every):
        keep = None or every
        return [v for v in weights() if keep(v.name)]
    ```
    becomes
    ```python
    def train(every):
        keep = every
        return [v for v in weights() if keep(v.name)]
    ```

    So is the arm of an expression whose condition is a constant, as those become that are given a default.

    ```python
    def project(x):
        return dense(x, name="project" if not None else None)
    ```
    becomes
    ```python
    def project(x):
        return dense(x, name="project")
    ```

    So is what stands below such a condition, unless the program says ``if None:`` itself.

    A condition that asks whether the answer to a comparison is None is no condition.

    ```python
    def project(x, mode):
        training = mode == "train"
        if training is not None:
            x = norm(x, training)
        return x
    ```
    becomes
    ```python
    def project(x, mode):
        training = mode == "train"
        x = norm(x, training)
        return x
    ```
    """
    found = next(filter(None, (_settled(module, statement) for statement in function.body)), [])
    found = found or next(filter(None, (_arm(module, node) for node in walk(function))), [])
    return found or next(filter(None, (_known(drafts, module, node) for node in walk(function))), [])


def _known(drafts: Drafts, module: Module, node: ast.AST) -> list[Change]:
    """``if name is not None:`` where the name stands for the answer to a comparison, or for a literal, and ``if None:``, as
    conditions become that are given a default."""
    if not isinstance(node, ast.If):
        return []
    above = module.parent(node)
    chained = isinstance(above, ast.If) and above.orelse == [node]
    holds = _never_none(module, node.test)
    holds = _given(drafts, module, node.test) if holds is None else holds
    body = node.body if holds else node.orelse
    if chained or holds is None or (not holds and len(body) == 1 and isinstance(body[0], ast.If)):
        return []
    lines: list[Statement] = [*map(module.cst.statement, body)]
    return Change.of(module, Replace(node, lines) if lines else Remove(node))


def _never_none(module: Module, test: ast.expr) -> bool | None:
    """Whether a condition holds that asks if a value is None that is none; None for other conditions."""
    if not isinstance(test, ast.Compare) or not is_none(test.comparators[0]):
        return None
    made = module.assignment(test.left)
    if made is None or not isinstance(made.value, _NEVER_NONE) or not isinstance(test.ops[0], (ast.Is, ast.IsNot)):
        return None
    return isinstance(test.ops[0], ast.IsNot)


def _given(drafts: Drafts, module: Module, test: ast.expr) -> bool | None:
    """Whether a condition on constants holds, which the program does not have itself; None for other conditions."""
    holds = _holds(test)
    own = f"if {module.segment(test)}:"
    return None if any(own in original.text for original in drafts.originals) else holds


def _arm(module: Module, node: ast.AST) -> list[Change]:
    holds = _holds(node.test) if isinstance(node, ast.IfExp) else None
    if holds is None or not isinstance(node, ast.IfExp) or module.nearest(node, ast.JoinedStr) is not None:
        return []
    return Change.of(module, Replace(node, module.cst.expression(node.body if holds else node.orelse)))


def _holds(test: ast.expr) -> bool | None:
    """Whether a condition on nothing but constants holds."""
    if isinstance(test, ast.Constant):
        return bool(test.value)
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        inner = _holds(test.operand)
        return None if inner is None else not inner
    if isinstance(test, ast.Compare) and len(test.ops) == 1 and is_none(test.comparators[0]):
        if isinstance(test.left, ast.Constant) and isinstance(test.ops[0], (ast.Is, ast.IsNot)):
            return is_none(test.left) == isinstance(test.ops[0], ast.Is)
    return None


def _settled(module: Module, statement: ast.stmt) -> list[Change]:
    value = statement.value if isinstance(statement, ast.Assign) else None
    if not isinstance(value, ast.BoolOp) or not isinstance(value.op, ast.Or):
        return []
    first, *rest = value.values
    if isinstance(first, ast.Constant) and first.value is None:
        others = [module.cst.expression(one) for one in rest]
        settled = functools.reduce(lambda one, other: expr("{one} or {other}", one=one, other=other), others)
        return Change.of(module, Replace(value, settled))
    bound = [binding.node for binding in module.bindings(first)] if isinstance(first, ast.Name) else []
    if len(bound) == 1 and isinstance(bound[0], ast.FunctionDef):
        return Change.of(module, Replace(value, module.cst.expression(first)))
    return []

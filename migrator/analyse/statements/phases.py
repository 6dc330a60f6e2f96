"""Values that only matter in training, such as the rates of dropout in recurrent cells: what they are there.

A cell is made once, for all modes, and drops nothing outside of training. So what it is made from is what the program
gives it in training, if in evaluation and prediction it gives what drops nothing.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.statements.modes import ALL_MODES
from migrator.analyse.statements.names import reads, wrapped_again
from migrator.emit.render import Renderer, Transform
from migrator.resolve.syntax import children, walk

if TYPE_CHECKING:
    from migrator.analyse.function.body import Body
    from migrator.analyse.statements.flow import Leaf

_ATOMS = (ast.Name, ast.Attribute, ast.Subscript, ast.Call, ast.Constant)
_ARITHMETIC: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
}


def ignored(body: Body, node: ast.AST) -> set[ast.expr]:
    """The values below a node that only matter in training and differ by mode."""
    found: set[ast.expr] = set()
    for call in walk(node):
        if isinstance(call, ast.Call):
            values = [*body.translations.training_only(call, body.module.resolve)]
            found_maker = body.sublayers.maker(body, call)
            if found_maker is not None:
                values += found_maker.values(call)
            found |= {value for value in values if _differs(body, value)}
    found |= {test for test in body.training_tests if any(test is child for child in walk(node))}
    return found


def _differs(body: Body, node: ast.expr) -> bool:
    """Whether the mode decides a value, as far as can be told before the binding times are known."""
    if body.modes.mentions(node):
        return True
    for child in walk(node):
        if not isinstance(child, ast.Name) or not isinstance(child.ctx, ast.Load):
            continue
        scope = body.module.scope(child).lookup(child.id)
        if scope is None or scope.node is not body.function:
            continue  # of a lambda, a comprehension or a nested function, or from outside
        leaves = [leaf for leaf in body.flow.leaves if child.id in leaf.defs and not leaf.mode_only]
        if any(leaf.guard != ALL_MODES for leaf in leaves) and len(leaves) > 1:
            return True
        given = [x.node.value for x in leaves if isinstance(x.node, ast.Assign) and child.id not in x.uses]
        if any(_differs(body, value) for value in given):
            return True
    return False


def in_training(body: Body, node: ast.expr, neutral: float, renderer: Renderer, transform: Transform) -> str | None:
    """The text of a value in training, if it is `neutral` in all other modes; None if the mode does not decide it.

    Raises Unsupported where the value does something outside of training as well.
    """
    at = body.flow.leaf_of(node)
    assert at is not None
    if at not in body.wrappers:
        if not _differs(body, node):
            return None
        if any(_number(body, node, at, mode) != neutral for mode in at.modes - {"train"}):
            raise Unsupported("dropout in recurrent cells outside of training is not migrated yet", node)
    return _text_in_training(body, node, at, renderer, transform)


def test_in_training(body: Body, test: ast.expr, renderer: Renderer, transform: Transform) -> str:
    """The text in training of a condition that is one of `training_tests`."""
    at = body.training_tests[test]
    return _text_in_training(body, test, at, renderer, lambda node: None if node is test else transform(node))


def _text_in_training(body: Body, node: ast.expr, at: Leaf, renderer: Renderer, transform: Transform) -> str:
    """The text of a value with what the names in it are in training."""

    def written(node: ast.expr, at: Leaf) -> str:
        def part(child: ast.AST) -> str | None:
            if not isinstance(child, (ast.Name, ast.IfExp)) or not _differs(body, child):
                return transform(child)
            if body.modes.evaluate(child, "train") is not None:
                return str(body.modes.evaluate(child, "train"))
            value, where = _settled(body, child, at, "train")
            if value is child:
                raise Unsupported("the value in training is not seen", child)
            inner = written(value, where)
            return inner if isinstance(value, _ATOMS) or child is node else f"({inner})"

        return renderer.expression(node, part)

    return written(node, at)


def _names(body: Body, node: ast.AST, at: Leaf) -> set[str]:
    """Names that the text of a value in training reads."""
    if isinstance(node, ast.Name) or (isinstance(node, ast.IfExp) and _differs(body, node)):
        assert isinstance(node, ast.expr)
        value, where = _settled(body, node, at, "train") if _differs(body, node) else (node, at)
        if value is not node:
            return _names(body, value, where)
        return reads(node)
    return set().union(*(_names(body, child, at) for child in children(node)))


def look_through(body: Body) -> None:
    """Let statements need what their values that only matter in training are there, not the names that differ by mode."""
    for leaf in body.flow.leaves:
        hidden = ignored(body, leaf.node)
        if hidden:
            inside = {child for value in hidden for child in walk(value)}
            shown = {n.id for n in walk(leaf.node) if isinstance(n, ast.Name) and n not in inside}
            leaf.uses = (leaf.uses & shown).union(*(_names(body, value, leaf) for value in hidden))


def _settled(body: Body, node: ast.expr, at: Leaf, mode: str) -> tuple[ast.expr, Leaf]:
    """The expression that stands for a name or a condition in a mode, and the leaf that holds it."""
    while True:
        if isinstance(node, ast.IfExp):
            decided = body.modes.evaluate(node.test, mode)
            if decided is None:
                return node, at
            node = node.body if decided else node.orelse
        elif isinstance(node, ast.Name):
            leaves = body.slicer.reaching(node.id, at.index, mode, at)
            assign = leaves[0].node if len(leaves) == 1 else None
            if not isinstance(assign, ast.Assign) or not isinstance(assign.targets[0], ast.Name):
                return node, at
            if len(assign.targets) > 1 or not _differs(body, node):
                return node, at
            node, at = assign.value, leaves[0]
        else:
            return node, at


def _number(body: Body, node: ast.expr, at: Leaf, mode: str) -> float | None:
    """The number that an expression is in a mode; None if that is not seen."""
    decided = body.modes.evaluate(node, mode)
    if decided is not None:
        return float(decided)
    if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
        return node.value
    if isinstance(node, ast.BinOp) and type(node.op) in _ARITHMETIC:
        left, right = _number(body, node.left, at, mode), _number(body, node.right, at, mode)
        return None if left is None or right is None else _ARITHMETIC[type(node.op)](left, right)
    value, where = _settled(body, node, at, mode)
    if value is node and isinstance(node, ast.Name):  # a plain name
        leaves = body.slicer.reaching(node.id, at.index, mode, at)
        assign = leaves[0].node if len(leaves) == 1 else None
        if isinstance(assign, ast.Assign) and isinstance(assign.targets[0], ast.Name):
            value, where = assign.value, leaves[0]
    return None if value is node else _number(body, value, where, mode)


def widen(body: Body) -> None:
    """Let statements that wrap a cell for training only run in all modes: the wrapper knows when it trains.

    ``if training: cell = DropoutWrapper(cell, …)``
    """
    for leaf in body.flow.leaves:
        if leaf.modes == {"train"} and _dropped(body, leaf.node):
            leaf.modes = leaf.guard = ALL_MODES
            body.wrappers.add(leaf)
    for leaf in body.flow.leaves:
        inside = [node for node in walk(leaf.node) if isinstance(node, ast.If)]
        for node in (*inside, *(frame.node for frame in leaf.frames if isinstance(frame.node, ast.If))):
            dropped = [_dropped(body, statement) for statement in node.body]
            plain = not node.orelse and not body.modes.mentions(node.test) and _differs(body, node.test)
            others = leaf.modes - {"train"}
            keeps_all = all(_number(body, keep, leaf, mode) == 1 for ks in dropped for keep in ks for mode in others)
            if plain and all(dropped) and keeps_all:
                body.training_tests.setdefault(node.test, leaf)


def _dropped(body: Body, node: ast.stmt) -> list[ast.expr]:
    """The probabilities of ``cell = DropoutWrapper(cell, …)``."""
    call = wrapped_again(node)
    return body.translations.training_only(call, body.module.resolve) if call is not None else []

"""Whether an attribute that a method sets has a value of this very call wherever the method reads it.

if self.loss_type == "logloss":
    self.loss = tf.losses.log_loss(labels, self.out)
elif self.loss_type == "mse":
    self.loss = tf.nn.l2_loss(labels - self.out)
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

from migrator.resolve.syntax import walk

_JUMPS = (ast.Return, ast.Raise, ast.Continue, ast.Break)


def read_unset(
    function: ast.FunctionDef, uses: Sequence[ast.Attribute], settled: Callable[[ast.expr], bool]
) -> ast.Attribute | None:
    """The first of the uses of an attribute that reads it where no statement above may have set it.

    A test that is `settled` is answered alike in all calls of the method: where none of its arms sets the attribute, no other
    call has set it either, and to read it fails as it would with a variable.
    """
    return _Walk(frozenset(uses), settled).block(function.body, False)[1]


class _Walk:
    """What is known of one attribute behind each statement: whether it is set, and the first read that may come too early."""

    def __init__(self, uses: frozenset[ast.Attribute], settled: Callable[[ast.expr], bool]) -> None:
        self._uses = uses
        self._settled = settled

    def block(self, body: Sequence[ast.stmt], is_set: bool) -> tuple[bool, ast.Attribute | None]:
        """What is known behind statements."""
        for statement in body:
            is_set, early = self._statement(statement, is_set)
            if early is not None:
                return is_set, early
        return is_set, None

    def _statement(self, statement: ast.stmt, is_set: bool) -> tuple[bool, ast.Attribute | None]:
        if not any(node in self._uses for node in walk(statement)):
            return is_set or isinstance(statement, _JUMPS), None
        if isinstance(statement, ast.If):
            return self._condition(statement, is_set)
        if isinstance(statement, (ast.For, ast.While)):
            return self._loop(statement, is_set)
        if isinstance(statement, ast.With):
            early = self._read(is_set, *statement.items)
            inside, inner = self.block(statement.body, is_set)
            return inside, early or inner
        plain = isinstance(statement, (ast.Assign, ast.AnnAssign))
        early = self._read(is_set, statement)
        if isinstance(statement, ast.AugAssign) and statement.target in self._uses and not is_set:
            early = early or statement.target
        sets = plain and any(node in self._uses and not self._reads(node) for node in walk(statement))
        return is_set or sets or isinstance(statement, _JUMPS), early

    def _condition(self, statement: ast.If, is_set: bool) -> tuple[bool, ast.Attribute | None]:
        early = self._read(is_set, statement.test)
        body, first = self.block(statement.body, is_set)
        other, second = self.block(statement.orelse, is_set)
        either = (body or other) and self._settled(statement.test)
        return (body and other) or either, early or first or second

    def _loop(self, statement: ast.For | ast.While, is_set: bool) -> tuple[bool, ast.Attribute | None]:
        early = self._read(is_set, statement.iter if isinstance(statement, ast.For) else statement.test)
        _, first = self.block(statement.body, is_set)
        _, second = self.block(statement.orelse, is_set)
        return is_set, early or first or second

    def _read(self, is_set: bool, *nodes: ast.AST) -> ast.Attribute | None:
        """A use in these nodes that reads the attribute."""
        if is_set:
            return None
        found = [n for node in nodes for n in walk(node) if isinstance(n, ast.Attribute) and n in self._uses]
        return next(filter(self._reads, found), None)

    @staticmethod
    def _reads(node: ast.AST) -> bool:
        return isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load)

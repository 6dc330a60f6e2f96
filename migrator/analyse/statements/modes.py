"""Decides expressions over the `mode` of a model_fn: ``mode == ModeKeys.TRAIN``, ``is_training and …``, and so on."""

from __future__ import annotations

import ast
from collections.abc import Callable

from migrator.resolve.syntax import walk

MODES = ("train", "eval", "infer")
ALL_MODES = frozenset(MODES)
_SPELLINGS = {"TRAIN": "train", "EVAL": "eval", "PREDICT": "infer", "INFER": "infer"}

ModeKey = Callable[[ast.expr], "str | None"]


def mode_of_symbol(name: str | None) -> str | None:
    """The mode that a qualified name such as ``tensorflow.estimator.ModeKeys.TRAIN`` stands for."""
    if name is None or not name.startswith("tensorflow.") or ".ModeKeys." not in name:
        return None
    return _SPELLINGS.get(name.rsplit(".", 1)[1])


class Modes:
    """What is known about mode expressions inside one function.

    `parameter` is the function's name for the mode, `key` says which mode an expression names (`mode_of_symbol`).
    """

    def __init__(self, parameter: str | None, key: ModeKey, training: str | None = None) -> None:
        self.parameter = parameter
        self._key = key
        self.names: dict[str, dict[str, bool]] = {}
        """Names that stand for a truth value that depends on the mode alone."""
        self.only: str | None = None
        """The one mode that there is, where a function refuses all others."""
        if training is not None:
            self.names[training] = {"train": True, "eval": False, "infer": False}

    def learn(self, statement: ast.stmt) -> bool:
        """Notes ``name = <mode expression>``; True if the statement was one."""
        if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
            target = statement.targets[0]
            table = self.table(statement.value)
            if isinstance(target, ast.Name) and table is not None and self.mentions(statement.value):
                self.names[target.id] = table
                return True
        return False

    def learn_constant(self, statement: ast.stmt, modes: frozenset[str]) -> bool:
        """Notes ``name = True`` that runs in some modes only; True if the statement was one."""
        if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
            target, value = statement.targets[0], statement.value
            if isinstance(target, ast.Name) and isinstance(value, ast.Constant) and isinstance(value.value, bool):
                self.names.setdefault(target.id, {}).update(dict.fromkeys(modes, value.value))
                return True
        return False

    def mentions(self, expression: ast.AST) -> bool:
        """Whether the value of `expression` involves the mode at all."""
        return any(isinstance(n, ast.Name) and (n.id == self.parameter or n.id in self.names) for n in walk(expression))

    def table(self, expression: ast.expr) -> dict[str, bool] | None:
        """Truth value per mode; None if it depends on anything else."""
        table: dict[str, bool] = {}
        for mode in MODES:
            value = self.evaluate(expression, mode)
            if value is None:
                return None
            table[mode] = value
        return table

    def dump_in(self, node: object, mode: str) -> str:
        """A tree as text, like `ast.dump`, with the truth values that its mode tests have in `mode`."""
        if isinstance(node, list):
            return f"[{', '.join(self.dump_in(item, mode) for item in node)}]"
        if not isinstance(node, ast.AST):
            return repr(node)
        if isinstance(node, ast.expr) and not isinstance(getattr(node, "ctx", None), (ast.Store, ast.Del)):
            value = self.evaluate(node, mode)
            if value is not None:
                return str(value)
        fields = (f"{name}={self.dump_in(value, mode)}" for name, value in ast.iter_fields(node) if name != "kind")
        return f"{type(node).__name__}({', '.join(fields)})"

    def evaluate(self, expression: ast.expr, mode: str) -> bool | None:
        """The truth value of `expression` in `mode`, None if something else decides."""
        mode = self.only or mode
        if isinstance(expression, ast.Constant) and isinstance(expression.value, bool):
            return expression.value
        if isinstance(expression, ast.Name):
            return self.names.get(expression.id, {}).get(mode)
        if isinstance(expression, ast.UnaryOp) and isinstance(expression.op, ast.Not):
            value = self.evaluate(expression.operand, mode)
            return None if value is None else not value
        if isinstance(expression, ast.BoolOp):
            decisive = isinstance(expression.op, ast.Or)
            values = [self.evaluate(value, mode) for value in expression.values]
            if decisive in values:
                return decisive
            return None if None in values else not decisive
        if isinstance(expression, ast.IfExp):
            test = self.evaluate(expression.test, mode)
            return None if test is None else self.evaluate(expression.body if test else expression.orelse, mode)
        if isinstance(expression, ast.Compare) and len(expression.ops) == 1:
            return self._compare(expression.left, expression.ops[0], expression.comparators[0], mode)
        return None

    def settled(self, expression: ast.expr, mode: str) -> ast.expr:
        """A condition in `mode`, without what the mode decides of it: ``FLAGS.log`` of ``mode == TRAIN and FLAGS.log``."""
        if not isinstance(expression, ast.BoolOp):
            return expression
        left = [self.settled(value, mode) for value in expression.values if self.evaluate(value, mode) is None]
        if len(left) == len(expression.values) and all(a is b for a, b in zip(left, expression.values)):
            return expression
        if len(left) == 1:
            return left[0]
        return ast.copy_location(ast.BoolOp(expression.op, left), expression)

    def _compare(self, left: ast.expr, op: ast.cmpop, right: ast.expr, mode: str) -> bool | None:
        if self._is_mode(right) and not self._is_mode(left) and isinstance(op, (ast.Eq, ast.NotEq, ast.Is, ast.IsNot)):
            left, right = right, left
        if not self._is_mode(left):
            return None
        if isinstance(op, (ast.Eq, ast.Is, ast.NotEq, ast.IsNot)):
            other = self._mode_named(right)
            if other is None:
                return None
            return (other == mode) == isinstance(op, (ast.Eq, ast.Is))
        if isinstance(op, (ast.In, ast.NotIn)) and isinstance(right, (ast.Tuple, ast.List, ast.Set)):
            others = [self._mode_named(element) for element in right.elts]
            if None in others:
                return None
            return (mode in others) == isinstance(op, ast.In)
        return None

    def _is_mode(self, expression: ast.expr) -> bool:
        return isinstance(expression, ast.Name) and expression.id == self.parameter

    def _mode_named(self, expression: ast.expr) -> str | None:
        if isinstance(expression, ast.Constant):
            return expression.value if expression.value in MODES else None
        return self._key(expression)

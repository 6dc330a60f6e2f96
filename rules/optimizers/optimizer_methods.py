"""Methods of optimizer classes, written anew: ops that a graph runs become statements, in the order of their making."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Protocol

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.training.stateops import CONTROL, GROUPS, PLACING, state_op
from migrator.emit.render import Renderer
from migrator.resolve.module import Module
from migrator.resolve.syntax import walk
from migrator.rewrite import Row, Statement, defined, opened, rows, trimmed, with_else

from .applied_methods import AppliedMethods
from .optimizer_slots import ASKS


class Owner(Protocol):
    """What is known of the class."""

    module: Module
    renderer: Renderer
    methods: AppliedMethods

    def transform(self, node: ast.AST, scattering: list[str], own: str, this: str) -> str | None:
        """The text of an expression in TensorFlow 2, where that is another one."""


class MethodText:
    """Writes one method anew."""

    def __init__(self, owner: Owner, method: ast.FunctionDef, updates: bool) -> None:
        self.owner, self.method, self.updates = owner, method, updates
        self.renderer, self.module = owner.renderer, owner.module
        self.this = method.args.args[0].arg
        self.scattering = owner.methods.scattering(method)
        self.variable = owner.methods.variable(method) if updates else ""
        self.idle = self._idle()

    def statement(self, head: str = "") -> Statement:
        """The method, with another `head` if that is given: ``def update(self, variable)``."""
        if self.method.decorator_list and not any(
            ast.unparse(d) in ("staticmethod", "classmethod") for d in self.method.decorator_list
        ):
            raise Unsupported("a decorator of a method of an optimizer class is not followed", self.method)
        body = trimmed(self._block(self.method.body, True)) or rows(["pass"])
        if head:
            return defined(head, body)
        start, first = self.module.span(self.method)[0], self.module.span(self.method.body[0])[0]
        lines = [line for line in self.module.source[start:first].decode().split("\n") if line.strip()]
        while lines[-1].strip().startswith("#"):
            lines.pop()
        return opened(lines, body)[-1]  # type: ignore[return-value]  # no comment stands above

    def _text(self, node: ast.AST) -> str | None:
        return self.owner.transform(node, self.scattering, self.variable, self.this)

    def _idle(self) -> set[str]:
        """Names that only say in which graph a variable is, or which ops are run."""
        names = [n for n in walk(self.method) if isinstance(n, ast.Name)]
        idle = {n.id for n in names if isinstance(n.ctx, ast.Store)}
        while busy := {n.id for n in names if n.id in idle and not self._is_idle(n, idle)}:
            idle -= busy
        return idle

    def _is_idle(self, node: ast.Name, idle: set[str]) -> bool:
        if isinstance(node.ctx, ast.Store):
            return True
        attribute = self.module.parent(node)
        call = self.module.parent(attribute) if isinstance(attribute, ast.Attribute) else None
        if isinstance(call, ast.Call) and call.func is attribute and isinstance(self.module.parent(call), ast.Expr):
            return self._lists(call, idle)
        for around in self.module.ancestors(node):
            if around is self.method:
                return False
            if isinstance(around, ast.Call):
                if isinstance(around.func, ast.Attribute) and around.func.attr == ASKS:
                    return True
                name = self.module.resolve(around.func)
                if name in CONTROL or (name in PLACING) or (self.updates and name in GROUPS):
                    return True
                return self._lists(around, idle)
            if self.updates and isinstance(around, ast.Return):
                return True
            if self.updates and isinstance(around, ast.Assign):
                return all(isinstance(target, ast.Name) and target.id in idle for target in around.targets)
            if not isinstance(around, (ast.List, ast.Tuple, ast.Starred, ast.BinOp, ast.keyword)):
                return False
        return False

    def _lists(self, call: ast.Call, idle: set[str]) -> bool:
        """Whether a call adds to a list of ops."""
        function = call.func
        if not isinstance(function, ast.Attribute) or function.attr not in ("append", "extend"):
            return False
        return self.updates and ast.unparse(function.value) in idle

    def _block(self, body: list[ast.stmt], tail: bool) -> list[Row]:
        return [row for statement in body for row in self._statement(statement, tail and statement is body[-1])]

    def _comments(self, statement: ast.stmt) -> list[Row]:
        return rows(self.renderer.comments(statement, ""))

    def _statement(self, statement: ast.stmt, tail: bool) -> list[Row]:
        if isinstance(statement, ast.With) and all(self._is_placing(item) for item in statement.items):
            found = self._comments(statement)
            for item in statement.items:
                assert isinstance(item.context_expr, ast.Call)
                if self.module.resolve(item.context_expr.func) in CONTROL:
                    found += [row for a in item.context_expr.args for row in self._run(a)]
            return [*found, *self._block(statement.body, tail)]
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
            if self._lists(statement.value, self.idle):
                return [*self._comments(statement), *self._run(statement.value)]
        if isinstance(statement, ast.If):
            if self._only_idle(statement):
                return []
            head = self.renderer.header(statement, self._text, "")
            head[-1] += self._remark(statement)
            *above, found_if = opened(head, self._block(statement.body, tail) or rows(["pass"]))
            other = self._block(statement.orelse, tail) if statement.orelse else []
            return [*above, with_else(found_if, other, chain=False) if other else found_if]
        if self.updates and isinstance(statement, ast.Return):
            found = [*self._comments(statement), *self._run(statement.value)]
            return found if tail else [*found, *rows(["return"])]
        if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
            name, value = statement.targets[0].id, statement.value
            if name in self.idle:
                if list(self._changes(value)) != [value]:
                    return self._run(value)
                alone = self._text(value) or self._rendered(value)
                return rows(self.renderer.statement(statement, lambda node: alone, ""))
        return rows(self.renderer.statement(statement, self._text, ""))

    def _remark(self, statement: ast.If) -> str:
        """The comment behind the colon of a condition."""
        start = self.module.span(statement.test)[1]
        line = self.module.source[start:].split(b"\n", 1)[0].decode()
        rest = line.strip(" )").removeprefix(":").strip()
        return f"  {rest}" if rest.startswith("#") else ""

    def _is_placing(self, item: ast.withitem) -> bool:
        call = item.context_expr
        return isinstance(call, ast.Call) and self.module.resolve(call.func) in CONTROL | PLACING

    def _only_idle(self, statement: ast.If) -> bool:
        return not list(self._changes(statement)) and all(
            (isinstance(s, ast.Assign) and isinstance(s.targets[0], ast.Name) and s.targets[0].id in self.idle)
            or (isinstance(s, ast.Expr) and isinstance(s.value, ast.Call) and self._lists(s.value, self.idle))
            for s in (*statement.body, *statement.orelse)
        )

    def _changes(self, node: ast.AST) -> Iterator[ast.Call]:
        """The outermost changes in an expression, and calls of methods that update."""
        if isinstance(node, ast.Call):
            own = isinstance(node.func, ast.Attribute) and ast.unparse(node.func).startswith(f"{self.this}.")
            updating = (
                own and isinstance(node.func, ast.Attribute) and self.owner.methods.method(node.func.attr) is not None
            )
            if updating or state_op(self.module, node, self.scattering) is not None:
                yield node
                return
        for child in ast.iter_child_nodes(node):
            yield from self._changes(child)

    def _run(self, node: ast.expr | None) -> list[Row]:
        """Statements for the changes in what a method returns or waits for."""
        if node is None:
            return []
        return rows([self._text(call) or self._rendered(call) for call in self._changes(node)])

    def _rendered(self, node: ast.expr) -> str:
        return joined(self.renderer.expression(node, self._text))


def joined(text: str) -> str:
    """An expression on one line, where it has no comments or texts over lines."""
    if "\n" not in text or "#" in text or '"""' in text or "'''" in text:
        return text
    lines = [line.strip() for line in text.split("\n")]
    joined = lines[0]
    for line in lines[1:]:
        joined += line if joined.endswith(("(", "[")) else " " + line
    return joined

"""A file of a program in which a loop is written: texts of its expressions, and lines among its statements."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from types import MappingProxyType

from migrator.emit.render import Renderer
from migrator.resolve.module import Module
from migrator.vocabulary.diagnostics import Edit

from .rows import Comprehension


class Page:
    """One file. `renderer` writes parts of it, with the edits of names in them; `tf` is how it calls TensorFlow."""

    def __init__(self, module: Module, renderer: Renderer, tf: str) -> None:
        self.module = module
        self.tf = tf
        self._renderer = renderer
        self.imports: set[str] = set()
        """Imports of the standard library to add to the file."""

    def text(self, node: ast.expr, instead: Mapping[ast.AST, str] = MappingProxyType({})) -> str:
        """An expression with the edits of the names in it, and with other texts `instead` of some of these."""
        return self._renderer.expression(node, instead.get)

    def operand(self, node: ast.expr) -> str:
        """An expression on the left of a minus."""
        loose = (ast.IfExp, ast.Lambda, ast.BoolOp, ast.Compare, ast.UnaryOp, ast.NamedExpr)
        bits = isinstance(node, ast.BinOp) and isinstance(
            node.op, (ast.LShift, ast.RShift, ast.BitAnd, ast.BitOr, ast.BitXor)
        )
        return f"({self.text(node)})" if isinstance(node, loose) or bits else self.text(node)

    def closed(self, node: ast.expr) -> str:
        """An expression as an operand of anything."""
        closed = isinstance(node, (ast.Name, ast.Attribute, ast.Constant, ast.Call, ast.Subscript))
        return self.text(node) if closed else f"({self.text(node)})"

    def library(self, name: str) -> str:
        """How the file calls a module of the standard library, once it imports it."""
        known = [entry.name for entry in self.module.imports if entry.target == name and entry.top_level]
        if known:
            return known[0]
        alias = name
        while alias in self.module.bound_names:
            alias += "_"
        self.imports.add(f"import {name}" if alias == name else f"import {name} as {alias}")
        return alias

    @property
    def unit(self) -> str:
        """One level of indentation."""
        function = next((n for n in self.module.nodes(ast.FunctionDef)), None)
        if function is None:
            return "    "
        return self.indent(function.body[0])[len(self.indent(function)) :] or "    "

    def indent(self, node: ast.AST) -> str:
        """The blanks before a statement."""
        module, statement = self.module, self.module.statement(node)
        line = module.source[module.line_span(statement)[0] : module.span(statement)[0]].decode()
        return line if not line.strip() else ""

    def instead(self, statement: ast.stmt, lines: Iterable[str]) -> Edit:
        """Lines in place of a statement."""
        text = f"\n{self.indent(statement)}".join(lines)
        return self.module.edit(statement, text) if text else self.module.delete_statement(statement)

    def above(self, statement: ast.stmt, lines: Iterable[str]) -> Edit:
        """Lines above a statement."""
        start = self.module.span(statement)[0]
        return self.module.insert(start, "".join(f"{line}\n{self.indent(statement)}" for line in lines))

    def below(self, statement: ast.stmt, lines: Iterable[str]) -> Edit:
        """Lines below a statement."""
        end = self.module.line_span(statement)[1]
        lead = "" if self.module.source[end - 1 : end] == b"\n" else "\n"
        return self.module.insert(end, lead + "".join(f"{self.indent(statement)}{line}\n" for line in lines))

    def before(self, node: ast.expr) -> ast.stmt | None:
        """The statement that a line may be put before, to the same effect; None where that is not so."""
        module, statement = self.module, self.module.statement(node)
        start = module.span(statement)[0]
        first = module.line_span(statement)[0]
        if module.source[first:start].strip():
            return None
        below: ast.AST = node
        for outer in module.ancestors(node):
            if outer is statement:
                break
            if isinstance(outer, (ast.Lambda, ast.IfExp, ast.BoolOp)):
                return None
            if isinstance(outer, Comprehension) and not (
                outer.generators[0].iter is below or below is outer.generators[0]
            ):
                return None
            if isinstance(outer, ast.comprehension) and outer.iter is not below:
                return None
            below = outer
        if isinstance(statement, ast.While) or (isinstance(statement, ast.For) and below is not statement.iter):
            return None
        chained = isinstance(statement, ast.If) and module.source[start : start + 4] == b"elif"
        return None if chained or isinstance(statement, (ast.FunctionDef, ast.ClassDef, ast.With)) else statement

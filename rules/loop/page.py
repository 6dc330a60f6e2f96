"""A file of a program in which a loop is written: texts of its expressions, and lines among its statements."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType

from migrator.emit.render import Renderer
from migrator.resolve.module import Module
from migrator.vocabulary.diagnostics import Edit

from ..symbols.absl_modules import bind_logging

_STANDARD: frozenset[str] = getattr(sys, "stdlib_module_names", frozenset({"argparse", "json", "os", "sys", "time"}))
"""Libraries that stand below those of Python."""


class Page:
    """One file. `renderer` writes parts of it, with the edits of names in them; `tf` is how it calls TensorFlow, and `need`
    adds helpers to it."""

    def __init__(self, module: Module, renderer: Renderer, tf: str, need: Callable[[str], str] = str) -> None:
        self.helper = need
        """Says how the file calls a helper, once it imports it."""
        self.module = module
        self.tf = tf
        self._renderer = renderer
        self.imports: set[str] = set()
        """Imports of the standard library to add to the file."""
        self.known: dict[ast.AST, str] = {}
        """Texts of expressions that are part of others."""
        self.absl: Sequence[Edit] = ()
        """The import of absl's logging."""

    def text(self, node: ast.expr, instead: Mapping[ast.AST, str] = MappingProxyType({})) -> str:
        """An expression with the edits of the names in it, and with other texts `instead` of some of these."""
        known = {**self.known, **instead}
        if isinstance(node, ast.Constant) and self.module.parent(node) is None:
            return known.get(node) or ast.unparse(node)  # a setting that stands in another file
        return self._renderer.expression(node, known.get)

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

    def info(self, at: ast.expr) -> str:
        """How code at a place logs what a program said by `tf.logging.info`."""
        bound = bind_logging(self.module, at)
        if bound is None:
            return f"{self.tf}.compat.v1.logging.info"
        name, imports = bound
        self.absl = self.module.cst.apply(imports)
        return f"{name}.info"

    def import_edits(self) -> Iterator[Edit]:
        """The imports to add: among those of the standard library at the head of a file, in the order of their names, or as a
        group of their own before the others."""
        yield from self.absl
        first = next((node for node in self.module.tree.body if _is_import(node)), None)
        group: list[str] = []
        for statement in sorted(self.imports):
            above: ast.stmt | None = None
            for node in self.module.tree.body:
                named = node.names[0].name if isinstance(node, ast.Import) else ""
                apart = above is not None and node.lineno > (above.end_lineno or 0) + 1
                if apart or named and named.partition(".")[0] not in _STANDARD or f"import {named}" > statement:
                    break
                above = node if named else above
            if above is not None:
                yield self.module.insert(self.module.line_span(above)[1], f"{statement}\n")
            elif first is not None and self.module.indent(first) is not None:
                group.append(f"{statement}\n")
            else:
                yield self.module.add_import(statement)
        if group:
            assert first is not None
            yield self.module.insert(self.module.line_span(first)[0], "".join([*group, "\n"]))

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

    def lines(self, at: ast.AST, lines: Iterable[str]) -> str:
        """Lines in place of an expression that is a statement."""
        first, *more = lines
        return first + "".join(f"\n{self.indent(at)}{line}" if line else "\n" for line in more)

    def training(self, call: ast.Call, lines: Sequence[str]) -> Edit:
        """Lines in place of a call that is a statement; with a blank line above where they begin with a function."""
        text = self.lines(call, lines)
        start, end = self.module.span(call)
        first = self.module.line_span(self.module.statement(call))[0]
        before = self.module.source[:first].rpartition(b"\n")[0].rpartition(b"\n")[2].strip()
        alone = not self.module.source[first:start].strip()
        if alone and lines[0].startswith("def ") and before and not before.endswith(b":"):
            return self.module.edit((first, end), f"\n{self.indent(call)}{text}")  # behind what is put below that line
        return self.module.edit(call, text)

    def above(self, statement: ast.stmt, lines: Iterable[str]) -> Edit:
        """Lines above a statement."""
        start = self.module.span(statement)[0]
        return self.module.insert(start, "".join(f"{line}\n{self.indent(statement)}" for line in lines))

    def below(self, statement: ast.stmt, lines: Iterable[str]) -> Edit:
        """Lines below a statement."""
        end = self.module.line_span(statement)[1]
        lead = "" if self.module.source[end - 1 : end] == b"\n" else "\n"
        return self.module.insert(end, lead + "".join(f"{self.indent(statement)}{line}\n" for line in lines))


def _is_import(node: ast.stmt) -> bool:
    """Whether a statement imports, but for what has to stand at the head of a file."""
    return isinstance(node, ast.Import) or isinstance(node, ast.ImportFrom) and node.module != "__future__"

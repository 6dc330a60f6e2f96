"""A file of a program in which a loop is written: texts of its expressions, and lines among its statements."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType

from migrator.analyse.function.translate import is_none
from migrator.emit.polishing.polish import quoted
from migrator.emit.render import Renderer
from migrator.resolve.module import Module
from migrator.rewrite import Change, Comments, Import, Insert, Remove, Replace, Statement, code, commented, spaced
from migrator.rewrite import lines as statements_of
from migrator.rewrite.imports import above_standard
from migrator.vocabulary.diagnostics import Edit

from ..symbols.absl_modules import bind_logging
from .comments import of_what_goes


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
        self.asides: Mapping[ast.AST, ast.expr] = {}
        """What takes the place of parts of expressions that stand elsewhere."""
        self.absl: Sequence[Edit] = ()
        """The import of absl's logging."""

    def text(self, node: ast.expr, instead: Mapping[ast.AST, str] = MappingProxyType({})) -> str:
        """An expression with the edits of the names in it, and with other texts `instead` of some of these."""
        known = {**self.known, **instead}
        for part, value in self.asides.items():
            if part is not node and part not in known and self.module.is_inside(part, node):
                whole = isinstance(self.module.parent(part), (ast.Call, ast.keyword, ast.List, ast.Tuple, ast.Dict))
                known[part] = self.text(value) if whole else self.closed(value)
        if node in self.asides:
            return self.text(self.asides[node], instead)
        if isinstance(node, ast.Constant) and self.module.parent(node) is None:
            return known.get(node) or _written(node)  # a setting that stands in another file
        if (
            isinstance(node, ast.IfExp) and self.module.parent(node) is None
        ):  # of settings of several, or of another file
            return f"{self.text(node.body, instead)} if {self.text(node.test)} else {self.text(node.orelse, instead)}"
        if isinstance(node, ast.Attribute) and self.module.parent(node) is None:  # which a model holds
            return f"{self.text(node.value, instead)}.{node.attr}"
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
        known = [entry for entry in self.module.imports if entry.target == name and entry.top_level]
        early = [entry.name for entry in known if self._is_at_head(entry.statement)]
        if early:
            return early[0]
        bound = self.module.analysis.root.bindings.get(name, [])
        again = bool(known) and all(
            binding.target == name for binding in bound
        )  # a later cell of a notebook imports it
        alias = name if again else self.unbound(name)
        self.imports.add(f"import {name}" if alias == name else f"import {name} as {alias}")
        return alias

    def _is_at_head(self, statement: ast.stmt) -> bool:
        """Whether a statement stands above all functions and classes of the file."""
        first = next((n for n in self.module.tree.body if isinstance(n, (ast.FunctionDef, ast.ClassDef))), None)
        return first is None or self.module.span(statement) < self.module.span(first)

    def free(self, at: ast.AST, *names: str) -> str:
        """The first of some names that the function around a node has not; else the last one, with underscores."""
        free = (name for name in names if self.module.unused_name(name, at) == name)
        return next(free, "") or self.module.unused_name(names[-1], at)

    def unbound(self, name: str) -> str:
        """A name, with underscores behind it where something in the file has it."""
        while name in self.module.bound_names:
            name += "_"
        return name

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
            above = above_standard(self.module.tree, statement)
            if above is not None:
                yield from self.change(Insert(statements_of(statement), after=above))
            elif first is not None and self.module.indent(first) is not None:
                group.append(statement)
            else:
                yield from self.change(Import(statement))
        if group and first is not None:
            yield from self.change(Import("\n".join(group), above=first, apart=True))

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

    def change(self, *changes: Change) -> list[Edit]:
        """The edits that make some changes of the file."""
        return self.module.cst.apply(changes)

    def replaced(self, node: ast.AST, text: str) -> list[Edit]:
        """Another expression, of which this is the text, in the place of one."""
        return self.change(Replace(node, code(quoted(text, self.module), self.indent(node))))

    def instead(self, statement: ast.stmt, lines: Iterable[str]) -> list[Edit]:
        """Lines in place of a statement, with a blank line above a function that follows another statement."""
        lines = list(lines)
        if not lines:
            return self.change(*of_what_goes(self.module, statement), Remove(statement))
        if lines[-1].startswith("#"):  # comments alone, which belong to no statement
            above, behind = self.module.comments_above(statement), self.module.comment_behind(statement)
            alone = getattr(self.module.parent(statement), "body", None) == [
                statement
            ]  # and `pass` keeps what is behind
            stay = (*above, *lines, *([behind] if behind and not alone else ()))
            return self.change(Comments(statement, stay), Remove(statement))
        new = commented(self.module.cst.statement(statement), self.statements(statement, lines))
        first = isinstance(statement, ast.stmt) and statement in getattr(self.module.parent(statement), "body", [])[:1]
        apart = (
            hasattr(new[0], "params")
            and not first
            and not self.module.is_blank_above(self.module.line_span(statement)[0])
        )
        return self.change(Replace(statement, self._spaced(statement, new) if apart else new))

    def above(self, statement: ast.stmt, lines: Iterable[str], apart: bool = False) -> list[Edit]:
        """Lines above a statement; if they are to stand `apart`, with a blank line above."""
        lines = list(lines)
        if all(line.startswith("#") for line in lines):  # which belong to no statement of their own
            return self.change(Comments(statement, (*self.module.comments_above(statement), *lines)))
        new = self.statements(statement, lines)
        return self.change(Insert(self._spaced(statement, new) if apart else new, before=statement))

    def eval_folder(self, folder: str, name: ast.expr | None) -> str:
        """The folder of evaluations of a name below that of checkpoints, if they have a name."""
        label = '"eval"'
        if isinstance(name, ast.Constant) and name.value is not None:
            label = f'"eval_{name.value!s}"'
        elif name is not None and not is_none(name):
            label = f'"eval_" + {self.closed(name)}'
        return f"{self.library('os')}.path.join({folder}, {label})"

    def below(self, statement: ast.stmt, lines: Iterable[str]) -> list[Edit]:
        """Lines below a statement."""
        return self.change(Insert(self.statements(statement, lines), after=statement))

    def _spaced(self, at: ast.stmt, statements: list[Statement]) -> list[Statement]:
        """Statements with a blank line above the first one; with two above a function on the outermost level of a file."""
        outer = hasattr(statements[0], "params") and self.module.parent(at) is self.module.tree
        return spaced(spaced(statements)) if outer else spaced(statements)

    def statements(self, at: ast.stmt, lines: Iterable[str]) -> list[Statement]:
        """The statements of lines, which may hold text of the file at this depth."""
        indent = self.indent(at)
        lines = "\n".join(lines).split("\n")
        lines = lines if self.module.parent(at) is not self.module.tree else list(_apart(lines))
        text = "\n".join(f"{indent}{line}" if line else "" for line in lines)
        return statements_of(quoted(text, self.module))


def _apart(lines: Iterable[str]) -> Iterator[str]:
    """Lines with two blank ones around the functions among them, as on the outermost level of a file."""
    blank, inside, first = 0, False, True
    for line in lines:
        if not line:
            blank += 1
            continue
        outer = not line.startswith((" ", "\t", ")", "]", "}"))
        begins = line.startswith(("def ", "class "))
        yield from [""] * (2 if outer and (begins or inside) and not first else blank)
        yield line
        blank, inside, first = 0, begins or (inside and not outer), False


def _is_import(node: ast.stmt) -> bool:
    """Whether a statement imports, but for what has to stand at the head of a file."""
    return isinstance(node, ast.Import) or isinstance(node, ast.ImportFrom) and node.module != "__future__"


def _written(node: ast.Constant) -> str:
    """The text of a constant that stands nowhere in a file."""
    plain = isinstance(node.value, str) and node.value.isprintable() and not set(node.value) & set("\\\"'")
    return f'"{node.value!s}"' if plain else ast.unparse(node)

"""One file as libcst sees it: the nodes that stand for those of `ast`, and the edits that changes of them make.

Only the statements that are touched are parsed, and only once. libcst is imported with the first of them.
"""

from __future__ import annotations

import ast
import bisect
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Optional, overload

from migrator.resolve.parsing import expression_tree
from migrator.resolve.syntax import children
from migrator.resolve.text import Span, Text
from migrator.vocabulary.diagnostics import Edit

from .blocks import Blocks, Slot
from .changes import (
    ABOVE,
    BEGINS,
    Change,
    Comments,
    Conflict,
    Import,
    Origin,
    Remove,
    Rename,
    Replace,
    Statement,
    Unprintable,
    Written,
)
from .heads import Style, head, is_compound, is_owner, whole, whole_span
from .imports import add_import

if TYPE_CHECKING:
    import libcst as cst

    from .heads import Piece
    from .units import Unit


Substitute = Callable[[ast.AST], "Optional[cst.BaseExpression]"]
"""What takes the place of a node; None where it stays, and what is in it is asked about."""


class CstFile:
    """The libcst side of a parsed file. `parent` gives the node that one of `tree` stands in."""

    def __init__(self, text: Text, tree: ast.Module, parent: Callable[[ast.AST], ast.AST | None]) -> None:
        self.text = text
        self.parent = parent
        self._tree = tree
        self._heads: dict[ast.AST, Unit | Unprintable] = {}
        self._wholes: dict[ast.AST, Unit | Unprintable] = {}
        self._owners: dict[int, Unit] = {}
        """By the ids of nodes, which the units keep."""

    # -- nodes --------------------------------------------------------------------------------------------------------

    def node(self, node: ast.AST) -> cst.CSTNode:
        """What stands for a node: for an argument its `Arg`, for a simple statement the small one, without its line.

        Raises Unprintable for code that libcst cannot print back as it is, and for what has no node of its own.
        """
        if isinstance(node, ast.stmt) and is_compound(node):
            return self.statement(node)
        unit = self.unit(node)
        found = unit.find(node, self.text.span(node)) if hasattr(node, "lineno") else None
        if found is None or not self._is_placed(node):
            place = node if hasattr(node, "lineno") else (unit.piece.start, unit.piece.end)
            raise Unprintable(f"libcst has no node for this {type(node).__name__}", self.text.location(place))
        return found

    def expression(self, node: ast.expr) -> cst.BaseExpression:
        """What stands for an expression."""
        found: cst.BaseExpression = self.node(node)  # type: ignore[assignment]  # Arg and Element stand for `*x` alone
        return found

    def call(self, node: ast.Call) -> cst.Call:
        """What stands for a call."""
        found: cst.Call = self.node(node)  # type: ignore[assignment]
        return found

    def filled(self, node: ast.AST, table: Mapping[ast.AST, cst.BaseExpression]) -> cst.BaseExpression:
        """An expression with others in the place of nodes in it."""
        from .trees import replaced_in

        found: cst.BaseExpression = replaced_in(  # type: ignore[assignment]  # as one expression gives one
            self.node(node), {self.node(inner): new for inner, new in table.items()}
        )
        return found

    def statement(self, node: ast.stmt, table: Mapping[ast.AST, cst.BaseExpression] | None = None) -> Statement:
        """A statement as a whole, with the comments above it and behind it, and with others in the place of nodes in it.

        Raises Unprintable.
        """
        unit = self._unit(self._wholes, node, whole)
        if not table:
            return unit.statement
        from .trees import replaced_in

        inside = {inner: unit.find(inner, self.text.span(inner)) for inner in table}
        for inner, found in inside.items():
            if found is None or not self._is_placed(inner):
                reason = f"libcst has no node for this {type(inner).__name__}"
                raise Unprintable(reason, self.text.location(inner))
        new: Statement = replaced_in(  # type: ignore[assignment]  # as one statement gives one
            unit.statement, {found: table[inner] for inner, found in inside.items() if found is not None}
        )
        return new

    @overload
    def substituted(self, node: ast.expr, substitute: Substitute) -> cst.BaseExpression: ...
    @overload
    def substituted(self, node: ast.stmt, substitute: Substitute) -> Statement: ...
    def substituted(self, node: ast.AST, substitute: Substitute) -> cst.CSTNode:
        """An expression, or a whole statement, with what `substitute` gives for nodes in it, of which the outermost are asked
        first. Raises Unprintable."""
        table: dict[ast.AST, cst.BaseExpression] = {}
        stack: list[ast.AST] = [node]
        while stack:
            inner = stack.pop()
            new = substitute(inner)
            if new is not None:
                table[inner] = new
            else:
                stack += children(inner)
        return self.statement(node, table) if isinstance(node, ast.stmt) else self.filled(node, table)

    def statements(
        self, nodes: Sequence[ast.stmt], substitute: Substitute = lambda node: None, apart: bool = False
    ) -> list[Statement]:
        """Statements in a row, each with the blank line above it, of several only one; the first one only if the row has to
        stay `apart` from what comes before it. See `substituted`. Raises Unprintable.
        """
        from .bodies import spaced

        found: list[Statement] = []
        for node in nodes:
            blank = (found or apart) and self.text.is_blank_above(self._unit(self._wholes, node, whole).piece.start)
            new = [self.substituted(node, substitute)]
            found += spaced(new) if blank else new
        return found

    def known_statement(self, node: ast.stmt) -> Statement | None:
        """A statement that was asked for before."""
        found = self._wholes.get(node)
        return None if found is None or isinstance(found, Unprintable) else found.statement

    def unit(self, node: ast.AST) -> Unit:
        """The statement, or head of one, that a node stands in. Raises Unprintable."""
        owner = next(filter(is_owner, self._upwards(node)), None)
        if owner is None:
            raise ValueError(f"{node} is no node of {self.text.path}")
        return self._unit(self._heads, owner, head)

    def _upwards(self, node: ast.AST) -> Iterator[ast.AST]:
        """A node, and those around it."""
        at: ast.AST | None = node
        while at is not None:
            yield at
            at = self.parent(at)

    def _unit(self, known: dict[ast.AST, Unit | Unprintable], node: ast.AST, cut: Callable[..., Piece]) -> Unit:
        found = known.get(node)
        if found is None:
            from .units import Unit

            try:
                found = Unit(self.text, cut(self.text, node, self.style), self.style)
                self._owners.update(dict.fromkeys(map(id, found.nodes), found))
            except Unprintable as error:
                found = error
            known[node] = found
        if isinstance(found, Unprintable):
            raise found
        return found

    def standing(self, node: ast.AST) -> Iterator[cst.CSTNode]:
        """All that stands for a node in what was parsed so far."""
        span = self.text.span(node)
        around = list(filter(is_owner, self._upwards(node)))
        for unit in (*map(self._heads.get, around[:1]), *map(self._wholes.get, around)):
            if unit is not None and not isinstance(unit, Unprintable) and unit.covers(span):
                found = unit.find(node, span)
                if found is not None:
                    yield found

    def _is_placed(self, node: ast.AST) -> bool:
        """Whether the bytes of a node are its own, which those in f-strings are not always before Python 3.12."""
        around, inside = self.parent(node), False
        while sys.version_info < (3, 12) and around is not None and not isinstance(around, ast.stmt):
            inside, around = inside or isinstance(around, ast.JoinedStr), self.parent(around)
        if not inside:
            return True
        try:
            again = expression_tree(f"({self.text.segment(node)})")
        except (SyntaxError, ValueError):
            return False
        return ast.dump(again) == ast.dump(node)

    # -- the file -----------------------------------------------------------------------------------------------------

    @cached_property
    def style(self) -> Style:
        """Line break and indentation."""

        return Style(self.text.newline, self.indentation)

    @cached_property
    def indentation(self) -> str:
        """One level of indentation: that of the first block."""
        blocks: list[tuple[ast.stmt | None, list[ast.stmt]]] = [(None, self._tree.body)]
        for around, block in blocks:  # which grows: outer ones come first
            if around is not None and block[0].lineno > around.lineno:
                outer, inner = self.text.indent(around), self.text.indent(block[0])
                if inner and outer is not None and inner.startswith(outer) and len(inner) > len(outer):
                    return inner[len(outer) :]
            for node in block:
                parts = (getattr(node, name, None) for name in ("body", "orelse"))
                blocks += [(node, part) for part in parts if isinstance(part, list) and part]
        return "    "

    def extent(self, node: cst.CSTNode) -> Span | None:
        """Where a node stands in the file, with its parentheses, comments and blanks; None for other code."""
        unit = self._owners.get(id(node))
        return None if unit is None else unit.extent(node)

    def unit_of(self, node: cst.CSTNode) -> Unit:
        """What a node was parsed in."""
        return self._owners[id(node)]

    def origin(self, node: cst.CSTNode) -> Origin | None:
        """Where a node was written; None for other code."""
        extent = self.extent(node)
        return None if extent is None else (self.text.path, bisect.bisect_right(self.text.line_starts, extent[0]))

    # -- changes ------------------------------------------------------------------------------------------------------

    def apply(self, changes: Iterable[Change]) -> list[Edit]:
        """The edits that make all of `changes`, as small as they can be. Raises Unprintable, and Conflict."""
        return [written.edit for written in self.written(changes, traced=False)]

    def written(self, changes: Iterable[Change], files: Iterable[CstFile] = (), traced: bool = True) -> list[Written]:
        """The same, with the origin of each line if it is `traced`. `files` are others that nodes of the changes may come
        from."""
        wanted = list(dict.fromkeys(changes))
        if all(
            isinstance(c, (Import, Remove, Rename, Comments)) or isinstance(c, Replace) and c.is_name for c in wanted
        ):
            return disjoint(self.plain(wanted))
        from .application import Application

        return disjoint(Application(self, wanted, files, traced).written())

    def plain(self, changes: Iterable[Change]) -> Iterator[Written]:
        """The edits of changes that need no libcst: imports, names, and statements that go."""
        slots = {change.target: Slot(new=[], apart=change.apart) for change in changes if isinstance(change, Remove)}
        for change in changes:
            if isinstance(change, Import) and change.instead is not None:
                indent = self.text.indent(change.instead)
                between = "; " if indent is None else self.text.newline + indent
                yield Written(self.text.edit(change.instead, between.join(change.statement.splitlines())), (None,))
            elif isinstance(change, Import):
                yield Written(add_import(self.text, self._tree, change), (None,), _IMPORT)
            elif isinstance(change, Rename):
                bound = "" if change.bound in (None, change.new) else f" as {change.bound}"
                yield Written(self.text.edit(self._identifier(change), change.new + bound), (None,))
            elif isinstance(change, Comments):
                yield from self._comments(change)
            elif isinstance(change, Replace) and isinstance(change.new, str):
                if not self._is_placed(change.target):
                    raise Unprintable(
                        "this name has no place of its own in an f-string", self.text.location(change.target)
                    )
                yield Written(self.text.edit(change.target, change.new), (None,))
        if not slots:
            return
        for patch in Blocks(self.text, self.parent, self.indentation).patches(slots):
            yield Written(self.text.edit(patch.region, patch.lead), (None,))

    def _identifier(self, change: Rename) -> Span:
        """Where the identifier stands that gets another name."""
        old = change.old.encode()
        start, end = self.text.span(change.target)
        if change.bound is not None:
            return start, end
        if isinstance(change.target, ast.ImportFrom):
            start = self.text.source.find(old, start + len("from"), end)
        span = (end - len(old), end) if isinstance(change.target, ast.Attribute) else (start, start + len(old))
        if self.text.source[span[0] : span[1]] != old or not self._is_placed(change.target):
            raise Unprintable(f"{change.old} is written in another way here", self.text.location(change.target))
        return span

    def _comments(self, change: Comments) -> Iterator[Written]:
        text, origin = self.text, (None,)
        end = text.line_span(whole_span(text, change.target))[0]
        start = text.above_comments(end)
        indent = text.indent(whole_span(text, change.target)) or ""
        old = text.segment((start, end)).splitlines(keepends=True)
        new = [f"{indent}{line}{text.newline}" for line in change.lines]
        while old and new and old[0].strip() == new[0].strip():
            start += len(old[0].encode("utf-8", "surrogatepass"))
            old, new = old[1:], new[1:]
        if old or new:
            yield Written(text.edit((start, end), "".join(new)), origin * max(1, len(new)), (BEGINS, 0))


_IMPORT = (ABOVE, -1)


def disjoint(found: Iterable[Written]) -> list[Written]:
    """Edits in source order; several insertions at one place as one, by their ranks. Raises Conflict if two overlap."""
    merged: list[Written] = []
    for one in sorted(found, key=lambda written: (written.edit.start, written.edit.end, written.rank)):
        last = merged[-1].edit if merged else None
        if last is None or last.end < one.edit.start or last.end == one.edit.start and last.start < one.edit.end:
            merged.append(one)
        elif last.start == last.end == one.edit.start == one.edit.end and _IMPORT in (one.rank, merged[-1].rank):
            merged.append(one)  # so that fixes share it
        elif last.start == last.end == one.edit.start == one.edit.end:
            ends = last.text.endswith("\n")
            origins = merged[-1].origins + (one.origins if ends else one.origins[1:])
            merged[-1] = replace(merged[-1], edit=replace(last, text=last.text + one.edit.text), origins=origins)
        else:
            raise Conflict(f"{last.path}: two changes of bytes {one.edit.start} to {one.edit.end}")
    return merged

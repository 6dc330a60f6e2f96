"""Pieces of a file as libcst trees: which node of the one stands for which node of the other."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from functools import cached_property

import libcst as cst

from migrator.resolve.text import Span, Text

from .changes import Statement, Unprintable
from .heads import Piece, Style
from .mapping import Index
from .nodes import way_up
from .printing import printed


class Unit:
    """A piece of a file, parsed. Raises Unprintable where libcst cannot parse it, or does not print what it parsed."""

    def __init__(self, text: Text, piece: Piece, style: Style) -> None:
        self.piece = piece
        source = piece.before + text.segment((piece.start, piece.end)) + piece.after
        if not source.endswith(("\n", "\r")):
            source += style.newline
        self._shift = piece.start - len(piece.before.encode())
        place = text.location(piece.start)
        try:
            self.tree = cst.parse_module(source)
            if source.endswith("\r"):  # libcst takes only a line feed for the end of the last line
                self.tree = self.tree.with_changes(has_trailing_newline=True)
            found = printed([self.tree], style, exact=True)
        except (cst.ParserSyntaxError, cst.CSTValidationError, UnicodeError) as error:
            raise Unprintable(f"libcst cannot parse this statement ({type(error).__name__})", place) from error
        if found.text != source:
            raise Unprintable("libcst prints this statement in another way than it is written", place)
        self._printed, self._extents = found, found.extents

    @cached_property
    def _index(self) -> Index:
        return Index(self._printed)

    @property
    def statement(self) -> Statement:
        """The statement that the piece is."""
        found = self.tree.body[-1]
        if self.piece.indent and self.piece.before and isinstance(found, cst.If):
            inner: Statement = found.body.body[-1]  # type: ignore[assignment]  # as in any block on lines of its own
            return inner
        return found

    @property
    def nodes(self) -> Iterable[cst.CSTNode]:
        """All nodes of the tree."""
        return self._printed.nodes

    def covers(self, span: Span) -> bool:
        """Whether a span of the file lies in the piece."""
        return self.piece.start <= span[0] and span[1] <= self.piece.end

    def find(self, node: ast.AST, span: Span) -> cst.CSTNode | None:
        """The node that stands for one of `ast`, whose span in the file is given."""
        return self._index.find(node, (span[0] - self._shift, span[1] - self._shift))

    def extent(self, node: cst.CSTNode) -> Span | None:
        """Where all that a node prints stands in the file; None for what the file does not have."""
        found = self._extents.get(id(node))
        if found is None:
            return None
        start, end = found[0] + self._shift, found[1] + self._shift
        return (start, end) if self.covers((start, end)) else None

    def way_up(self, node: cst.CSTNode) -> list[tuple[cst.CSTNode, str]]:
        """The nodes around one, the innermost first, each with the field that leads there."""
        first, last = self._extents[id(node)]

        def leads(other: cst.CSTNode) -> bool:
            start, end = self._extents[id(other)]
            return start <= first and last <= end

        return way_up(self.tree, node, leads)

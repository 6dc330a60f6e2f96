"""Prints libcst nodes, and says where in the text each of them stands, in bytes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import libcst as cst

# The state that `Module.code` prints with, too; libcst has no public name for it.
from libcst._nodes.internal import CodegenState

from .heads import Style

Span = tuple[int, int]


@dataclass(frozen=True)
class Printed:
    """The text of nodes; a node that occurs twice is known by its first place."""

    text: str
    nodes: list[cst.CSTNode]
    """All of them, inner ones first."""
    extents: dict[int, Span]
    """Of each node, by its `id`, all that it prints: with its parentheses, comments and blanks.

    By their ids, as libcst hashes nodes in Python, which takes longer than all else that is asked of these tables.
    """
    spans: dict[int, Span]
    """The same as `ast` counts: without these."""

    def between(self, start: int, end: int) -> Printed:
        """A part of the text."""
        text = self.text.encode("utf-8", "surrogatepass")[start:end].decode("utf-8", "surrogatepass")
        return Printed(text, self.nodes, self._moved(self.extents, -start), self._moved(self.spans, -start))

    def surrounded(self, lead: str, tail: str) -> Printed:
        """The text with others around it."""
        by = len(lead.encode())
        return Printed(lead + self.text + tail, self.nodes, self._moved(self.extents, by), self._moved(self.spans, by))

    @staticmethod
    def _moved(places: dict[int, Span], by: int) -> dict[int, Span]:
        return {node: (start + by, end + by) for node, (start, end) in places.items()} if by else places


def glued(before: str, after: str) -> bool:
    """Whether two tokens would be read as one: ``not`` and ``x``."""
    return _is_word(before[-1:]) and _is_word(after[:1])


def _is_word(char: str) -> bool:
    return char.isidentifier() or char.isdigit()


class _Recorder(CodegenState):
    def __init__(self, style: Style, indent: str, exact: bool) -> None:
        super().__init__(default_indent=style.unit, default_newline=style.newline)
        self.exact = exact
        self.indent_tokens = [indent] if indent else []
        self.position = 0
        self.nodes: list[cst.CSTNode] = []
        self.extents: dict[int, Span] = {}
        self.spans: dict[int, Span] = {}
        self._opened: list[int] = []
        """Where the nodes around the current one begin, and what `ast` counts of them."""

    def add_indent_tokens(self) -> None:
        for token in self.indent_tokens:
            self.add_token(token)

    def add_token(self, value: str) -> None:
        if self.tokens and not self.exact and glued(self.tokens[-1], value):
            self._opened = [begun + (begun == self.position) for begun in self._opened]
            self.tokens.append(" ")
            self.position += 1
        if value:
            self.tokens.append(value)
        self.position += len(value) if value.isascii() else len(value.encode("utf-8", "surrogatepass"))

    def before_codegen(self, node: cst.CSTNode) -> None:
        self._opened.append(self.position)

    def after_codegen(self, node: cst.CSTNode) -> None:
        begun = self._opened.pop()
        if id(node) not in self.extents:
            self.nodes.append(node)
            self.extents[id(node)] = begun, self.position

    @contextmanager
    def record_syntactic_position(
        self, node: cst.CSTNode, *, start_node: cst.CSTNode | None = None, end_node: cst.CSTNode | None = None
    ) -> Iterator[None]:
        self._opened.append(self.position)
        yield
        start = self._opened.pop()
        first = start if start_node is None else self._span(start_node)[0]
        last = self.position if end_node is None else self._span(end_node)[1]
        self.spans.setdefault(id(node), (first, last))

    def _span(self, node: cst.CSTNode) -> Span:
        return self.spans.get(id(node)) or self.extents[id(node)]


def printed(nodes: Sequence[cst.CSTNode], style: Style, indent: str = "", exact: bool = False) -> Printed:
    """The text of nodes one after the other; lines within brackets, and statements, begin at `indent`.

    Blanks between words are put in where nodes that came together lack them, unless it has to be `exact`.
    """
    state = _Recorder(style, indent, exact)
    for node in nodes:
        node._codegen(state)
    return Printed("".join(state.tokens), state.nodes, state.extents, state.spans)

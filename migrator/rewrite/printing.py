"""Prints libcst nodes, and says where in the text each of them stands, in bytes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
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


class _Place:
    """Notes what is printed within it as the span of a node."""

    __slots__ = ("_recorder", "_node", "_first", "_last")

    def __init__(
        self, recorder: _Recorder, node: cst.CSTNode, first: cst.CSTNode | None, last: cst.CSTNode | None
    ) -> None:
        self._recorder, self._node, self._first, self._last = recorder, node, first, last

    def __enter__(self) -> None:
        self._recorder.opened.append(self._recorder.position)

    def __exit__(self, kind: type[BaseException] | None, *error: object) -> None:
        recorder = self._recorder
        start, end = recorder.opened.pop(), recorder.position
        if kind is None:
            first = start if self._first is None else recorder.span(self._first)[0]
            last = end if self._last is None else recorder.span(self._last)[1]
            recorder.spans.setdefault(id(self._node), (first, last))


class _Recorder(CodegenState):
    def __init__(self, style: Style, indent: str, exact: bool) -> None:
        super().__init__(default_indent=style.unit, default_newline=style.newline)
        self.exact = exact
        self.indent_tokens = [indent] if indent else []
        self.position = 0
        self.nodes: list[cst.CSTNode] = []
        self.extents: dict[int, Span] = {}
        self.spans: dict[int, Span] = {}
        self.opened: list[int] = []
        """Where the nodes around the current one begin, and what `ast` counts of them."""

    def add_indent_tokens(self) -> None:
        for token in self.indent_tokens:
            self.add_token(token)

    def add_token(self, value: str) -> None:
        if not value:
            return
        if not self.exact and _is_word(value[0]) and self.tokens and _is_word(self.tokens[-1][-1]):
            self.opened = [begun + (begun == self.position) for begun in self.opened]
            self.tokens.append(" ")
            self.position += 1
        self.tokens.append(value)
        self.position += len(value) if value.isascii() else len(value.encode("utf-8", "surrogatepass"))

    def before_codegen(self, node: cst.CSTNode) -> None:
        self.opened.append(self.position)

    def after_codegen(self, node: cst.CSTNode) -> None:
        begun = self.opened.pop()
        if id(node) not in self.extents:
            self.nodes.append(node)
            self.extents[id(node)] = begun, self.position

    def record_syntactic_position(  # type: ignore[override]  # which is one as well, and entered for most nodes
        self, node: cst.CSTNode, *, start_node: cst.CSTNode | None = None, end_node: cst.CSTNode | None = None
    ) -> _Place:
        return _Place(self, node, start_node, end_node)

    def span(self, node: cst.CSTNode) -> Span:
        return self.spans.get(id(node)) or self.extents[id(node)]


def printed(nodes: Sequence[cst.CSTNode], style: Style, indent: str = "", exact: bool = False) -> Printed:
    """The text of nodes one after the other; lines within brackets, and statements, begin at `indent`.

    Blanks between words are put in where nodes that came together lack them, unless it has to be `exact`.
    """
    state = _Recorder(style, indent, exact)
    for node in nodes:
        node._codegen(state)
    return Printed("".join(state.tokens), state.nodes, state.extents, state.spans)


class _Writer(CodegenState):
    """Prints without asking where anything stands."""

    def record_syntactic_position(self, node: cst.CSTNode, **ends: object) -> _Nothing:  # type: ignore[override]
        return _NOTHING


class _Nothing:
    def __enter__(self) -> None: ...

    def __exit__(self, *error: object) -> None: ...


_NOTHING = _Nothing()


def text_of_nodes(nodes: Iterable[cst.CSTNode], unit: str = "    ") -> str:
    """The text of nodes, exactly as they are; one level of new blocks is indented by `unit`."""
    state = _Writer(default_indent=unit, default_newline="\n")
    for node in nodes:
        node._codegen(state)
    return "".join(state.tokens)

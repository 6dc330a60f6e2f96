"""Statements that come and go: where their lines stand in a file, also where statements share a line."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from migrator.resolve.text import Span, Text

from .changes import Conflict, Statement
from .heads import comments_above, has_own_lines, indentation, whole_span


@dataclass
class Slot:
    """All that happens at one statement of a file."""

    before: list[Statement] = field(default_factory=list)
    new: list[Statement] | None = None
    """What takes its place: nothing if it is empty. None: it stays."""
    after: list[Statement] = field(default_factory=list)
    above: bool = False
    """Whether the comments above it go with it, or come with what takes its place."""
    behind: bool = False
    """The same of the comment behind it."""
    first: list[Statement] = field(default_factory=list)
    """What is written before it and the comments above it."""
    gap: bool = False
    """Whether blank lines come behind that."""
    apart: bool = False
    """Whether the blank lines that set it off go with it, and the comments above it."""
    through: ast.stmt | None = None
    """The last of the statements behind it that go, too, as they move into what takes its place."""

    @property
    def written(self) -> list[Statement]:
        """All that is written for it."""
        return [*self.first, *self.before, *(self.new or ()), *self.after]


@dataclass(frozen=True)
class Patch:
    """Statements, or a text, in the place of a region of the file."""

    region: Span
    statements: Sequence[Statement] = ()
    indent: str = ""
    lead: str = ""
    """Text before them."""
    tail: str = ""
    """Text behind them."""
    begun: bool = False
    """Whether the indentation of their first line is there already."""
    ended: bool = False
    """Whether the end of their last line is."""
    behind: bool = False
    """Whether they are written behind a statement that stays."""
    depth: int = 0
    """How many blocks are around them."""


_BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")
_Runs = list[list[ast.stmt]]


class Blocks:
    """The blocks of a file. `parent` gives the node that one stands in, `unit` is one level of indentation."""

    def __init__(self, text: Text, parent: Callable[[ast.AST], ast.AST | None], unit: str) -> None:
        self._text = text
        self._parent = parent
        self._unit = unit
        self._gone: set[ast.stmt] = set()
        """Statements that go."""

    def block(self, node: ast.stmt) -> list[ast.stmt]:
        """The statements among which one stands. Raises Conflict for an ``elif``, which is none by itself."""
        owner = self._parent(node)
        for name in _BLOCKS:
            block = getattr(owner, name, None)
            if isinstance(block, list) and node in block:
                if isinstance(node, ast.If) and name == "orelse" and self._text.segment(node).startswith("elif"):
                    break
                return block
        raise Conflict(f"{self._text.location(node)}: this is a part of a statement, not one by itself")

    def patches(self, slots: Mapping[ast.stmt, Slot]) -> Iterator[Patch]:
        """What has to be written where, in source order within a block."""
        blocks = {id(block): block for block in map(self.block, slots)}
        self._gone = {node for node, slot in slots.items() if slot.new == [] and not slot.written}
        for block in blocks.values():
            idle = all(node in slots and slots[node].new == [] and not slots[node].written for node in block)
            emptied = block[0] if idle and not isinstance(self._parent(block[0]), ast.Module) else None
            for run in self._runs(block):
                mine = {node: slots[node] for node in run if node in slots}
                if not mine:
                    continue
                depth = self._depth(run[0])
                if len(run) == 1 and has_own_lines(self._text, whole_span(self._text, run[0])):
                    found = self._on_own_lines(run[0], mine[run[0]], emptied)
                elif all(_stays_in_line(slot) for slot in mine.values()):
                    found = self._in_line(run, mine, emptied)
                else:
                    found = self._on_new_lines(run, mine)
                for patch in found:
                    yield replace(patch, depth=depth)

    def settled(
        self, slots: Mapping[ast.stmt, Slot], moves: Callable[[ast.stmt, ast.stmt], bool]
    ) -> dict[ast.stmt, Slot]:
        """Slots with those as one that follow each other, where statements behind one that is replaced go as they move into
        what takes its place: so that the edits of them are small. `moves` says whether the second moves there."""
        found = dict(slots)
        for node, slot in slots.items():
            if not slot.new or slot.after or node not in found or not self._is_alone(node):
                continue
            if not slot.behind and self._has_remark(node):
                continue
            block = self.block(node)
            for other in block[block.index(node) + 1 :]:
                theirs = slots.get(other)
                gone = theirs is not None and theirs.new == [] and not theirs.written and not theirs.apart
                if not gone or not self._is_alone(other) or not moves(node, other):
                    break
                found[node] = replace(found[node], through=other)
                del found[other]
        return found

    def _has_remark(self, node: ast.stmt) -> bool:
        """Whether a comment stands behind a statement."""
        end = self._end(node)
        return self._text.comments_in(end, self._text.line_span((end, end))[1])

    def _is_alone(self, node: ast.stmt) -> bool:
        return has_own_lines(self._text, whole_span(self._text, node))

    def _depth(self, node: ast.AST) -> int:
        around = self._parent(node)
        return 0 if around is None else 1 + self._depth(around)

    def _runs(self, block: Sequence[ast.stmt]) -> _Runs:
        """The statements of a block, those together that share a line: ``a; b``."""
        runs: _Runs = []
        for node in block:
            between = self._text.source[self._end(runs[-1][-1]) : self._start(node)] if runs else b"\n"
            if b"\n" in between.replace(b"\\\r\n", b"").replace(b"\\\n", b"") or b"\r" in between:
                runs.append([node])
            else:
                runs[-1].append(node)
        return runs

    def _on_own_lines(self, node: ast.stmt, slot: Slot, emptied: ast.stmt | None) -> Iterator[Patch]:
        text, span = self._text, whole_span(self._text, node)
        first, last = text.line_span(span)
        indent = indentation(text, span[0])
        if slot.first:
            above = comments_above(text, first) if slot.above else text.above_comments(first)
            apart = text.newline * (1 if indent else 2) if slot.gap else ""
            lead = text.newline * self._missing(above, 1 if indent else 2) if slot.gap else ""
            yield Patch((above, above), slot.first, indent, lead, apart)
        if slot.before:
            yield Patch((first, first), slot.before, indent)
        if node is emptied:
            above = text.above_comments(first) + len(indent.encode()) if slot.apart else span[0]
            yield Patch((above, span[1]), lead="pass")
        elif slot.new == [] and slot.apart:
            above = comments_above(text, first) if slot.above else text.above_comments(first)
            yield Patch(self._set_off(node, above, last))
        elif slot.new is not None:
            above = comments_above(text, first) if slot.above else first
            if not slot.new:
                yield Patch((above, last))
            else:
                behind = slot.behind or slot.through is not None
                if slot.through is not None:
                    last = text.line_span(whole_span(text, slot.through))[1]
                led = bool(slot.new[0].leading_lines)  # by a blank line
                region = above if slot.above else first if led else span[0], last if behind else span[1]
                ended = not behind or not self._ends_line(last)
                yield Patch(region, slot.new, indent, begun=not slot.above and not led, ended=ended)
        if slot.after:
            yield self._below(last, slot.after, indent)

    def _set_off(self, node: ast.stmt, first: int, last: int) -> Span:
        """The lines of a statement with the blank lines below it, where those above it are enough. With those above it, where
        it is the last one of its block, so that what follows keeps its distance, and where it is an import with more of them
        below."""
        source, above, below = self._text.source, first, last
        while source[:above].endswith((b"\n\n", b"\n\r\n")):
            above -= 2 if source[:above].endswith(b"\r\n") else 1
        while source[below : below + 1] in (b"\n", b"\r"):
            below += 1
        if not above:  # nothing stands before it in the file
            return above, below
        imports = isinstance(node, (ast.Import, ast.ImportFrom)) and below - last >= first - above
        if imports or node is self.block(node)[-1] or above < first and below - last > first - above:
            return above, last
        return (first, below) if self._begins_paragraph(node) else (first, last)

    def _begins_paragraph(self, node: ast.stmt) -> bool:
        """Whether a statement is the first one of its block, or has a blank line above it; those that go do not count."""
        block = self.block(node)
        at = block.index(node)
        while at and block[at - 1] in self._gone:
            at -= 1
        above = self._text.above_comments(self._text.line_span(whole_span(self._text, block[at]))[0])
        return not at or self._text.is_blank_above(above)

    def _missing(self, start: int, wanted: int) -> int:
        """How many of the `wanted` blank lines above a line there are not; none are wanted where a block or a cell begins."""
        lines = self._text.source[:start].splitlines()
        blank = len(lines) - len(self._text.source[:start].rstrip().splitlines())
        code = lines[: len(lines) - blank]
        cells = self._text.cells
        begins = not code or code[-1].rstrip().endswith(b":") or cells is not None and cells.begins(len(lines) + 1)
        return 0 if begins else max(0, wanted - blank)

    def _below(self, last: int, statements: Sequence[Statement], indent: str) -> Patch:
        """Statements on lines of their own from a line's end on."""
        if self._ends_line(last):
            return Patch((last, last), statements, indent, behind=True)
        return Patch((last, last), statements, indent, lead=self._text.newline, ended=True, behind=True)

    def _ends_line(self, position: int) -> bool:
        return self._text.source[position - 1 : position] in (b"\n", b"\r")

    def _in_line(
        self, run: Sequence[ast.stmt], slots: Mapping[ast.stmt, Slot], emptied: ast.stmt | None
    ) -> Iterator[Patch]:
        """Statements replaced one by one, and others that go."""
        gone = [node in slots and not slots[node].new and node is not emptied for node in run]
        indent = indentation(self._text, self._start(run[0]))
        if all(gone):
            yield Patch(self._text.line_span((self._start(run[0]), self._stop(run))))
            return
        for index, node in enumerate(run):
            if node is emptied:
                yield Patch(whole_span(self._text, node), lead="pass")
            elif node in slots and slots[node].new:
                yield Patch(whole_span(self._text, node), slots[node].new or (), indent, begun=True, ended=True)
            elif gone[index] and not all(gone[index:]):
                yield Patch((self._start(node), self._start(run[index + 1])))
            elif gone[index]:
                yield Patch((self._end(run[index - 1]), self._end(node)))

    def _on_new_lines(self, run: Sequence[ast.stmt], slots: Mapping[ast.stmt, Slot]) -> Iterator[Patch]:
        """The statements of a line with others between them, which get lines of their own."""
        text, start, stop = self._text, self._start(run[0]), self._stop(run)
        indent, newline = indentation(text, start), text.newline
        headed = text.source[text.line_span((start, start))[0] : start].strip() != b""  # `if x: a; b`
        if headed:
            indent += self._unit
        at, last = (text.skip_back(start) if headed else start), None
        for kept, new in _gaps(run, slots):
            begins = stop if kept is None else self._start(kept)
            broken = last is not None or headed
            if kept is None and new and last is run[-1]:
                yield self._below(text.line_span((start, stop))[1], new, indent)
            elif kept is None and new:
                lead = newline if broken else ""
                yield Patch((at, begins), new, indent, lead, begun=not broken, ended=True, behind=True)
            elif new or (headed and last is None):
                yield Patch((at, begins), new, indent, newline if broken else "", indent, begun=not broken)
            elif text.source[at:begins].strip(b"; \t"):  # what stood here goes
                yield Patch((at, begins), lead="; " if broken and kept is not None else "")
            at, last = (at, last) if kept is None else (self._end(kept), kept)

    def _start(self, node: ast.stmt) -> int:
        return whole_span(self._text, node)[0]

    def _end(self, node: ast.stmt) -> int:
        return self._text.span(node)[1]

    def _stop(self, run: Sequence[ast.stmt]) -> int:
        """The end of a run, behind a semicolon that it may end with."""
        end = self._end(run[-1])
        behind = self._text.skip_inline(end)
        return behind + 1 if self._text.source[behind : behind + 1] == b";" else end


def _gaps(run: Sequence[ast.stmt], slots: Mapping[ast.stmt, Slot]) -> Iterator[tuple[ast.stmt | None, list[Statement]]]:
    """Each statement that stays, with what is written before it; None with what is written behind all."""
    new: list[Statement] = []
    for node in run:
        slot = slots.get(node, Slot())
        new += [*slot.first, *slot.before]
        if slot.new is None:
            yield node, new
            new = []
        new += [*(slot.new or ()), *slot.after]
    yield None, new


def has_comment(statement: Statement) -> bool:
    """Whether a simple statement has a comment behind it."""
    behind = getattr(statement, "trailing_whitespace", None)
    return behind is not None and behind.comment is not None


def _is_plain(statement: Statement) -> bool:
    """Whether a statement is simple, and without comments, so that it may share a line."""
    return hasattr(statement, "trailing_whitespace") and not statement.leading_lines and not has_comment(statement)


def _stays_in_line(slot: Slot) -> bool:
    return (
        not slot.first
        and not slot.before
        and not slot.after
        and (not slot.new or len(slot.new) == 1 and _is_plain(slot.new[0]))
    )

"""Source text of syntax nodes with replacements spliced in: what is not replaced stays byte for byte."""

from __future__ import annotations

import ast
import bisect
import re
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import TYPE_CHECKING

from migrator.resolve.syntax import children, walk
from migrator.resolve.text import within
from migrator.vocabulary.diagnostics import Edit

if TYPE_CHECKING:
    from migrator.resolve.module import Module

Transform = Callable[[ast.AST], "str | None"]
Splice = tuple[int, int, str]
# Quotes of strings that go over lines, and a line that goes on in the next one.
_LONG = re.compile(r'"""|\'\'\'|\\\r?\n')


class Renderer:
    """Renders nodes of one module. `edits` are rewrites that hold for the whole file (renamed symbols, for example)."""

    def __init__(self, module: Module, edits: Iterable[Edit] = ()) -> None:
        self.module = module
        self._edits = sorted((edit.start, edit.end, edit.text) for edit in edits)
        self._starts = [start for start, _, _ in self._edits]
        self._line_starts = [*module.line_starts, len(module.source)]

    def expression(self, node: ast.AST, transform: Transform) -> str:
        """The text of `node`, where `transform` may give another text for any node below it (outermost first)."""
        replaced = transform(node)
        if replaced is not None:
            return replaced
        start, end = self.module.span(node)
        return self._spliced(start, end, list(self._replacements(node, transform)), self._keywords(start))

    def _keywords(self, start: int) -> list[Splice]:
        """The names that edits put before an argument, which are of its call."""
        here = self._edits[bisect.bisect_left(self._starts, start) : bisect.bisect_right(self._starts, start)]
        return [(s, e, text) for s, e, text in here if e == s and text[-1:] == "=" and text[:-1].isidentifier()]

    def statement(self, node: ast.stmt, transform: Transform, indent: str) -> list[str]:
        """The lines of a statement at `indent`, with the comments that stand right above it and behind it.

        `transform` may give lines that take the place of the whole statement.
        """
        start, end = self.module.span(node)
        decorators = getattr(node, "decorator_list", [])
        first = min([node.lineno, *(d.lineno for d in decorators)])
        line_start = self._line_starts[first - 1]
        old_indent = self._indent_at(first)
        alone = self.module.source[line_start:start].strip() == b"" if not decorators else True
        end_of_line = self._end_of_line(end)
        tail = self.module.source[end:end_of_line]
        keep_tail = tail.strip().startswith(b"#") and alone
        body = transform(node)
        if body is not None:
            body = body.replace("\n", "\n" + indent)
        else:
            splices = list(self._replacements(node, transform))
            others = range(first + 1, (node.end_lineno or first) + 1)
            frozen = self._string_lines(node) if others else ()
            for number in others:
                if number not in frozen:
                    splices.append(self._reindented(number, old_indent, indent))
            body = self._spliced(start if not decorators else line_start + len(old_indent), end, splices)
            body = body[2:] if body.startswith("elif") and isinstance(node, ast.If) else body
        if keep_tail:
            body += "  " + tail.strip().decode()
        lines = self._comments_above(first, indent) if alone else []
        return lines + (indent + body).split("\n")

    def comments(self, node: ast.stmt, indent: str) -> list[str]:
        """The comments above a statement, without blank lines."""
        return [line for line in self._comments_above(node.lineno, indent) if line.strip()]

    def header(
        self,
        node: ast.For | ast.If | ast.With | ast.While,
        transform: Transform,
        indent: str,
        left_out: Collection[ast.withitem] = (),
    ) -> list[str]:
        """The lines of a compound statement up to its colon, with the comments above it, without some of its items."""
        first_child = node.body[0]
        start, _ = self.module.span(node)
        colon = self.module.source.rfind(b":", start, self._body_start(first_child))
        gone = self._without(node, left_out) if isinstance(node, ast.With) and left_out else []
        splices = [s for s in self._replacements(node, transform, header=True) if not within(s[:2], gone)]
        text = self._spliced(start, colon + 1, [*splices, *((*span, "") for span in gone)])
        text = text[2:] if text.startswith("elif") else text
        return [*self._comments_above(node.lineno, indent), *(indent + text).split("\n")]

    def _without(self, node: ast.With, left_out: Collection[ast.withitem]) -> list[tuple[int, int]]:
        """The spans of items with the commas between them and those that stay, of which there is one."""
        spans = [
            (i, self.module.span(i.context_expr)[0], self.module.span(i.optional_vars or i.context_expr)[1])
            for i in node.items
        ]
        gone, end = [], None  # of the last item that stays
        for position, (item, first, last) in enumerate(spans):
            if item not in left_out:
                end = last
            elif end is not None:
                gone.append((end, last))
                end = last
            else:
                gone.append((first, spans[position + 1][1]))
        return gone

    def _body_start(self, child: ast.stmt) -> int:
        """Where the text of the first statement of a body begins, before its leading comments."""
        position = self.module.span(child)[0]
        line = child.lineno
        while line > 1 and (not self._line(line - 1).strip() or self._line(line - 1).strip().startswith(b"#")):
            line -= 1
            position = self._line_starts[line - 1]
        return position

    def _replacements(self, node: ast.AST, transform: Transform, header: bool = False) -> Iterator[Splice]:
        for child in children(node):
            if header and isinstance(child, ast.stmt):
                continue
            if not hasattr(child, "lineno"):
                yield from self._replacements(child, transform)
                continue
            text = transform(child)
            if text is None:
                yield from self._replacements(child, transform)
            else:
                yield (*self._with_parentheses(*self.module.span(child), text), text)

    def _with_parentheses(self, start: int, end: int, text: str) -> tuple[int, int]:
        """The span of an argument that becomes a single name, with the parentheses that it has of its own."""
        source = self.module.source
        own = source[start - 1 : start] == b"(" and source[end : end + 1] == b")"
        if (
            text.isidentifier()
            and own
            and source[max(0, start - 9) : start - 1].rstrip(b" ")[-1:] in (b"=", b",", b"(")
        ):
            return start - 1, end + 1
        return start, end

    def _spliced(self, start: int, end: int, splices: list[Splice], left_out: Collection[Splice] = ()) -> str:
        taken = sorted(splices)
        position = bisect.bisect_left(self._starts, start)
        while position < len(self._edits) and self._edits[position][0] < end:
            edit = self._edits[position]
            # An insertion at the border of a replaced node stays; what lies inside of it goes. New blanks at the
            # beginning of a line do not stand in the way of an edit that goes over the line break before them.
            if (
                edit[1] <= end
                and edit not in left_out
                and not any(
                    s < edit[1] and edit[0] < e and (text.strip() or s < edit[0] or edit[1] < e)
                    for s, e, text in splices
                )
            ):
                taken.append(edit)
            position += 1
        taken.sort()
        out: list[bytes] = []
        cursor = start
        for s, e, text in taken:
            if s < cursor:  # a re-indentation inside a replaced node
                continue
            out.append(self.module.source[cursor:s])
            out.append(text.encode())
            cursor = e
        out.append(self.module.source[cursor:end])
        return b"".join(out).decode()

    def _line(self, number: int) -> bytes:
        return self.module.source[self._line_starts[number - 1] : self._line_starts[number]]

    def _end_of_line(self, position: int) -> int:
        end = self.module.source.find(b"\n", position)
        return len(self.module.source) if end < 0 else end

    def indent_of(self, node: ast.stmt) -> str:
        """The blanks at the beginning of a statement's line."""
        return self._indent_at(node.lineno)

    def _indent_at(self, number: int) -> str:
        line = self._line(number)
        return line[: len(line) - len(line.lstrip(b" \t"))].decode()

    def _reindented(self, number: int, old: str, new: str) -> Splice:
        start = self._line_starts[number - 1]
        present = self._indent_at(number)
        if not self._line(number).strip():
            return start, start + len(present), ""
        wanted = new + present[len(old) :] if present.startswith(old) else new
        return start, start + len(present), wanted

    def _string_lines(self, node: ast.AST) -> set[int]:
        """Numbers of the lines that begin inside a string: their leading blanks belong to the string."""
        lines: set[int] = set()
        for child in walk(node):
            text = isinstance(child, ast.Constant) and isinstance(child.value, (str, bytes))
            if text or isinstance(child, ast.JoinedStr):
                first, last = getattr(child, "lineno", 0), getattr(child, "end_lineno", 0) or 0
                if first < last and _LONG.search(self.module.segment(child)):  # else several short strings
                    lines.update(range(first + 1, last + 1))
        return lines

    def _comments_above(self, number: int, indent: str) -> list[str]:
        """Comment lines above a line, with blank lines between them, and one blank line before them if there is one."""
        lines: list[str] = []
        while number > 1:
            line = self._line(number - 1).strip()
            if line and not line.startswith(b"#"):
                break
            number -= 1
            lines.insert(0, indent + line.decode() if line else "")
        while len(lines) > 1 and not lines[0] and not lines[1]:
            lines.pop(0)
        return lines

"""Lays statements that edits touch out anew, where lines became too long or no longer stand below the bracket before them."""

from __future__ import annotations

import ast
import bisect
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from migrator.engine.fixes import in_order, splice
from migrator.engine.wrapping import WIDTH, aligned, wrapped
from migrator.resolve.module import Module
from migrator.resolve.syntax import children, statements
from migrator.vocabulary.diagnostics import Edit


def laid_out(modules: Mapping[str, Module], edits: Iterable[Edit]) -> list[Edit]:
    """`edits` of some files, with those replaced that leave a statement which has to be broken over lines anew."""
    by_path: dict[str, list[Edit]] = {}
    for edit in dict.fromkeys(edits):
        by_path.setdefault(edit.path, []).append(edit)
    return [edit for path, mine in by_path.items() for edit in _laid_out(modules[path], mine)]


def _laid_out(module: Module, edits: list[Edit]) -> list[Edit]:
    try:
        new = Module(module.path, splice(module.source, edits).decode("utf-8", "surrogatepass"))
        pieces = _Pieces(edits)
        regions = list(_regions(module, new, pieces))
    except (SyntaxError, ValueError, RecursionError):
        return edits
    if regions:
        edits = pieces.replaced(module.path, new.source, regions)
        new = Module(module.path, splice(module.source, edits).decode("utf-8", "surrogatepass"))
    module.memo["laid out"] = new
    return edits


@dataclass(frozen=True)
class _Region:
    """Bytes of the new text, and what stands there instead."""

    start: int
    end: int
    text: str


@dataclass(frozen=True)
class _Piece:
    """A part of the new text: an edit, or what lies between two edits."""

    start: int
    end: int
    old: int
    """Where it begins in the old text."""
    edit: Edit | None


class _Pieces:
    """The new text as edits and what lies between them."""

    def __init__(self, edits: list[Edit]) -> None:
        self.found: list[_Piece] = []
        position = cursor = 0
        for edit in in_order(edits):
            self.found.append(_Piece(cursor, cursor + edit.start - position, position, None))
            cursor += edit.start - position
            size = len(edit.text.encode("utf-8", "surrogatepass"))
            self.found.append(_Piece(cursor, cursor + size, edit.start, edit))
            cursor, position = cursor + size, edit.end
        self.found.append(_Piece(cursor, 1 << 62, position, None))
        self._starts = [piece.start for piece in self.found]

    def touched(self, start: int, end: int) -> bool:
        """Whether an edit put or took something between two places of the new text."""
        return any(piece.edit is not None for piece in self._within(start, end))

    def _within(self, start: int, end: int) -> Iterator[_Piece]:
        for number in range(max(0, bisect.bisect_left(self._starts, start) - 2), len(self.found)):
            piece = self.found[number]
            if piece.start >= end:
                break
            if piece.end > start:
                yield piece
            elif piece.edit is not None and start < piece.start:  # a deletion
                yield piece

    def replaced(self, path: str, source: bytes, regions: list[_Region]) -> list[Edit]:
        """The edits with the regions in the place of what they make there."""
        gone: set[Edit] = set()
        grown: list[tuple[int, int, int, int, list[_Region]]] = []
        """Start and end in the new text, start and end in the old one."""
        for region in sorted(regions, key=lambda region: region.start):
            inside = list(self._within(region.start, region.end))
            gone |= {piece.edit for piece in inside if piece.edit is not None}
            first, last = inside[0], inside[-1]
            start, before = region.start, first.old + region.start - first.start
            if first.edit is not None:
                start, before = first.start, first.edit.start
            end, behind = region.end, last.old + region.end - last.start
            if last.edit is not None:
                end, behind = last.end, last.edit.end
            if grown and grown[-1][1] > start:
                start, _, before, _, mine = grown.pop()
                grown.append((start, end, before, behind, [*mine, region]))
            else:
                grown.append((start, end, before, behind, [region]))
        # Insertions at one place stay in the order in which they stand in the new text.
        made = [(piece.start, piece.edit) for piece in self.found if piece.edit is not None and piece.edit not in gone]
        for start, end, before, behind, mine in grown:
            parts, cursor = [], start
            for region in mine:
                parts += [source[cursor : region.start], region.text.encode("utf-8", "surrogatepass")]
                cursor = region.end
            parts.append(source[cursor:end])
            made.append((start, Edit(path, before, behind, b"".join(parts).decode("utf-8", "surrogatepass"))))
        return [edit for _, edit in sorted(made, key=lambda pair: pair[0])]


def _regions(old: Module, new: Module, pieces: _Pieces) -> Iterator[_Region]:
    """The statements to be broken over lines anew, none of them inside another one."""
    long = {line.rstrip() for line in old.source.split(b"\n")}
    for node in _touched(new, statements(new.tree), pieces):
        lines = _own_lines(new, node)
        if lines is None:
            continue
        first, last = lines
        start, end = new.line_starts[first - 1], _end(new, last)
        text = new.source[start:end].decode("utf-8", "surrogatepass")
        if not pieces.touched(start, end):
            continue
        rows = text.split(new.newline)
        too_long = any(len(row) > WIDTH and row.rstrip().encode("utf-8", "surrogatepass") not in long for row in rows)
        found = aligned(rows) if len(rows) > 1 and not too_long else None
        if found is not None and any(len(row) > WIDTH for row in found):
            too_long = True
        if too_long:
            found = wrapped(rows, _unit(new))
        if found is not None and found != rows:
            yield _Region(start, end, new.newline.join(found))


def _touched(module: Module, found: Iterable[ast.stmt], pieces: _Pieces) -> Iterator[ast.stmt]:
    """Those statements that have an edit in one of their lines; what is below one that has none is not looked at."""
    behind = 0
    for node in found:
        if node.lineno <= behind:
            continue
        start, last = module.line_starts[node.lineno - 1], node.end_lineno or node.lineno
        if pieces.touched(start, _end(module, last)):
            yield node
        else:
            behind = last


def _own_lines(module: Module, node: ast.stmt) -> tuple[int, int] | None:
    """First and last line of a simple statement, or of the head of a compound one, that has its lines for itself."""
    start, end = module.span(node)
    if hasattr(node, "body"):
        if not isinstance(node, (ast.FunctionDef, ast.If, ast.For, ast.While, ast.With)):
            return None
        end = max((module.span(part)[1] for part in _head(node)), default=start)
        end = module.source.find(b":", end) + 1
    first, last = node.lineno, bisect.bisect_right(module.line_starts, end)
    before = module.source[module.line_starts[first - 1] : start]
    return (first, last) if not before.strip() and not module.source[end : _end(module, last)].strip() else None


def _head(node: ast.AST) -> Iterator[ast.AST]:
    """What stands in the head of a compound statement, without its decorators."""
    decorators = getattr(node, "decorator_list", [])
    for child in children(node):
        if not isinstance(child, ast.stmt) and child not in decorators:
            if hasattr(child, "end_lineno"):
                yield child
            yield from _head(child)


def _end(module: Module, line: int) -> int:
    """Where a line ends, without its line break."""
    starts = module.line_starts
    text = module.source[starts[line - 1] : starts[line] if line < len(starts) else None]
    return starts[line - 1] + len(text.rstrip(b"\r\n"))


def _unit(module: Module) -> str:
    """One level of indentation, as the file has it."""
    for node in module.tree.body:
        body = getattr(node, "body", None)
        if body and isinstance(body, list) and body[0].lineno > node.lineno:
            return " " * max(2, int(body[0].col_offset))
    return "    "

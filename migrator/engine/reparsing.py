"""Tells from the statements that edits touch whether a file still parses, which spares parsing the rest again.

Python parses a block statement by statement: if whole statements of it are replaced by text that parses alone, at the same
indentation, the file parses as before.
"""

from __future__ import annotations

import ast
import bisect
import keyword
import re
from collections import Counter
from collections.abc import Iterator, Sequence

from migrator.engine.fixes import in_order, splice
from migrator.resolve.module import Module
from migrator.resolve.parsing import syntax_tree
from migrator.vocabulary.diagnostics import Edit

_NAME = re.compile(rb"[A-Za-z_][A-Za-z_0-9]*(?:\.[A-Za-z_][A-Za-z_0-9]*)*")
_PART_OF_NAME = re.compile(rb"[A-Za-z_0-9.\x80-\xff]")
_RESERVED = frozenset(word.encode() for word in (*keyword.kwlist, "match", "case", "type"))
_LONE_BACKSLASH = re.compile(r"^ *\\$", re.MULTILINE)
"""Before a statement it tells the indentation, whatever the column of the statement."""

Lines = tuple[int, int]
"""First and last line, from 1."""

Placed = tuple[Lines, Edit]
"""An edit with the lines that it touches."""


def still_parses(module: Module, edits: Sequence[Edit]) -> bool:
    """Whether `module`, which parses, surely does so after `edits`, which are disjoint. False: that cannot be told."""
    if b"\r" in module.source or b"\f" in module.source or not module.source.endswith(b"\n"):
        return False
    borders = Counter(border for edit in edits for border in (edit.start, edit.end))
    touched = []
    for edit in in_order(edits):
        alone = borders[edit.start] == borders[edit.end] == 1
        if not (alone and _renames(module, edit)):
            touched.append((_lines(module, edit), edit))
    return _block_parses(module, module.tree.body, (1, len(module.line_starts) - 1), touched, top=True)


def _renames(module: Module, edit: Edit) -> bool:
    """Whether a name with dots becomes another name: it can stand wherever the old one stood."""
    old, new = module.source[edit.start : edit.end], edit.text.encode("utf-8", "surrogatepass")
    if b"." not in old or not _NAME.fullmatch(old) or not _NAME.fullmatch(new) or _RESERVED & {*new.split(b".")}:
        return False
    around = module.source[max(0, edit.start - 1) : edit.start], module.source[edit.end : edit.end + 1]
    return not any(_PART_OF_NAME.match(byte) for byte in around)


def _lines(module: Module, edit: Edit) -> Lines:
    first = bisect.bisect_right(module.line_starts, edit.start)
    # What ends with a line touches that line only; an insertion at the start of a line touches that one.
    return first, max(first, bisect.bisect_left(module.line_starts, edit.end))


def _block_parses(
    module: Module, block: Sequence[ast.stmt], bounds: Lines, edits: Sequence[Placed], top: bool = False
) -> bool:
    """Whether a block that has the lines `bounds` for itself parses after `edits`, which lie in these lines."""
    for lines, statements, inside in _regions(block, edits):
        if not bounds[0] <= lines[0] <= lines[1] <= bounds[1]:
            return False
        if len(statements) == 1 and _inner_parses(module, statements[0], inside):
            continue
        if not _region_parses(module, lines, statements, top, inside):
            return False
    return True


def _regions(
    block: Sequence[ast.stmt], edits: Sequence[Placed]
) -> Iterator[tuple[Lines, list[ast.stmt], list[Placed]]]:
    """Runs of whole lines that hold whole statements of `block`, with the edits that touch them."""
    spans = [_span(statement) for statement in block]
    ends = [last for _, last in spans]
    first = last = at = 0
    region: list[Placed] = []
    members: list[ast.stmt] = []
    for lines, edit in edits:
        if region and lines[0] > last:
            yield (first, last), members, region
            region = []
        if not region:
            first, last, members = lines[0], lines[1], []
            at = bisect.bisect_left(ends, first)
        region.append((lines, edit))
        last = max(last, lines[1])
        while at < len(spans) and spans[at][0] <= last:  # the statements on these lines, and those that share theirs
            first, last = min(first, spans[at][0]), max(last, spans[at][1])
            members.append(block[at])
            at += 1
    if region:
        yield (first, last), members, region


def _span(statement: ast.stmt) -> Lines:
    decorators: list[ast.expr] = getattr(statement, "decorator_list", [])
    assert statement.end_lineno is not None
    return min([statement.lineno, *(decorator.lineno for decorator in decorators)]), statement.end_lineno


def _inner_parses(module: Module, statement: ast.stmt, edits: Sequence[Placed]) -> bool:
    """Whether all edits lie in blocks of a compound statement, and these parse."""
    rest = list(edits)
    for block in _blocks(statement):
        bounds = _span(block[0])[0], _span(block[-1])[1]
        mine = [item for item in rest if bounds[0] <= item[0][0] and item[0][1] <= bounds[1]]
        rest = [item for item in rest if item not in mine]
        if mine and not _block_parses(module, block, bounds, mine):
            return False
    return not rest


def _blocks(statement: ast.AST) -> Iterator[list[ast.stmt]]:
    """The blocks of a compound statement that begin on a line of their own."""
    for name in ("body", "orelse", "finalbody", "handlers", "cases"):
        found = getattr(statement, name, None)
        if not isinstance(found, list) or not found:
            continue
        if name in ("handlers", "cases"):
            for part in found:
                yield from _blocks(part)
        else:
            yield found


def _region_parses(
    module: Module, lines: Lines, statements: Sequence[ast.stmt], top: bool, edits: Sequence[Placed]
) -> bool:
    """Whether whole lines parse after `edits` by themselves, as statements of the block that they stand in."""
    start, stop = module.line_starts[lines[0] - 1], module.line_starts[lines[1]]
    if module.source[:start].endswith(b"\\\n"):
        return False
    shifted = [Edit(edit.path, edit.start - start, edit.end - start, edit.text) for _, edit in edits]
    try:
        text = splice(module.source[start:stop], shifted).decode("utf-8")
        if text and not text.endswith("\n"):
            return False
        if top:
            syntax_tree(text)
            return True
        indent = _indentation(module, statements)
        if not indent or "\t" in text or _LONE_BACKSLASH.search(text):
            return False
        parsed = syntax_tree("if 1:\n" + text).body
    except (SyntaxError, ValueError):
        return False
    if len(parsed) != 1 or not isinstance(parsed[0], ast.If) or parsed[0].orelse:
        return False
    return all(statement.col_offset == indent for statement in parsed[0].body)


def _indentation(module: Module, statements: Sequence[ast.stmt]) -> int:
    """Blanks before the first of `statements`; 0 if something else stands there, or there is no statement to ask."""
    if not statements:
        return 0
    start, column = module.line_starts[_span(statements[0])[0] - 1], statements[0].col_offset
    return 0 if module.source[start : start + column].strip(b" ") else column

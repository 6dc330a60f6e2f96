"""Makes changes together: also those of code that another change keeps or moves. What comes out are edits of the file."""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Union

import libcst as cst

from migrator.resolve.text import Span

from .blocks import Blocks, Patch, Slot, has_comment
from .changes import (
    ABOVE,
    BEGINS,
    BELOW,
    ENDS,
    Change,
    Conflict,
    Insert,
    Origin,
    Remove,
    Rename,
    Replace,
    Statement,
    Unprintable,
    Written,
)
from .heads import is_compound
from .minimal import rewritten
from .nodes import below, children
from .precedence import core, fitted, in_place_of
from .printing import glued, printed
from .templates import name, renamed
from .trees import New, Table, replaced_in

if TYPE_CHECKING:
    from .cstfile import CstFile


@dataclass
class _Held:
    """What the new code of one change holds of the file."""

    nodes: dict[int, bool] = field(default_factory=dict)
    """Each node of it, by its `id`, and whether it stands in another one that was taken over as it is."""
    lines: dict[cst.CSTNode, cst.CSTNode] = field(default_factory=dict)
    """The lines of simple statements that have one for themselves."""
    copies: dict[tuple[object, ...], cst.CSTNode] = field(default_factory=dict)
    """Expressions that got parentheses, by what is in them."""

    def found(self, node: cst.CSTNode, inside: Callable[[], bool], line: bool) -> cst.CSTNode | None:
        """What a change of a node concerns here: nothing where just this node was taken over from elsewhere."""
        whole = self.lines.get(node, node) if line else node
        if id(whole) in self.nodes:
            if self.nodes[id(whole)] or inside():
                return node
        elif not self.copies:
            return None
        copy = self.copies.get(core(node)) if isinstance(node, cst.BaseExpression) else None
        return copy if copy is not None and inside() else None


class Application:
    """The changes of one file that are made at once. `files` are others that their nodes may come from; `traced` says whether
    it is wanted where the lines of the edits come from."""

    def __init__(
        self, file: CstFile, changes: Sequence[Change], files: Iterable[CstFile] = (), traced: bool = True
    ) -> None:
        self._file = file
        self._source = self._origin if traced else None
        self._files = (file, *files)
        self._slots: dict[ast.stmt, Slot] = {}
        self._expressions: dict[ast.AST, Union[Replace, Rename]] = {}
        self._plain: list[Change] = []
        self._stands: dict[ast.AST, list[cst.CSTNode]] = {}
        for change in sorted(changes, key=lambda change: isinstance(change, Insert) and change.into is not None):
            self._take(change)
        self._targets: list[ast.AST] = [*self._slots, *self._expressions]
        self._known_held: dict[ast.AST, _Held] = {}
        several = self._targets if len(self._targets) > 1 else ()  # one alone has no other in it
        self._within = {
            target: dict(self._found(target, held)) for target in several if (held := self._held(target)).nodes
        }
        self._open: list[ast.AST] = []

    def _take(self, change: Change) -> None:
        if isinstance(change, Insert):
            new = _lines(change.statements)
            if change.before is not None and (change.above or change.apart):
                slot = self._slots.setdefault(change.before, Slot())
                slot.first.extend(new)
                slot.gap = slot.gap or change.apart
            elif change.before is not None:
                self._slots.setdefault(change.before, Slot()).before.extend(new)
            else:
                after = change.after or _last(change.into)
                if change.apart and new:
                    blank = [cst.EmptyLine(indent=False)] * (
                        2 if isinstance(self._file.parent(after), ast.Module) else 1
                    )
                    new[0] = new[0].with_changes(leading_lines=[*blank, *new[0].leading_lines])
                self._slots.setdefault(after, Slot()).after.extend(new)
        elif isinstance(change, Remove):
            self._put(change.target, [])
            self._slots[change.target].apart = change.apart
        elif isinstance(change, Replace) and isinstance(change.target, ast.stmt):
            self._put(change.target, _lines(change.new))
        elif isinstance(change, (Replace, Rename)):
            if change.target in self._expressions:
                raise Conflict(f"{self._file.text.location(change.target)}: two changes of the same code")
            self._expressions[change.target] = change
        else:
            self._plain.append(change)

    def _put(self, target: ast.stmt, new: list[Statement]) -> None:
        slot = self._slots.setdefault(target, Slot())
        if slot.new is not None:
            raise Conflict(f"{self._file.text.location(target)}: two changes of the same statement")
        slot.new = new

    # -- changes within each other ------------------------------------------------------------------------------------

    def _held(self, target: ast.AST) -> _Held:
        found = self._known_held.get(target)
        if found is None:
            found = self._known_held[target] = self._holds(target)
        return found

    def _holds(self, target: ast.AST) -> _Held:
        held = _Held()
        stack = [(node, False) for node in self._new(target)]
        while stack:
            node, inside = stack.pop()
            held.nodes[id(node)] = held.nodes.get(id(node), False) or inside
            known = inside or self._file.extent(node) is not None
            if node.__class__ is cst.SimpleStatementLine and len(node.body) == 1:
                held.lines[node.body[0]] = node
            if not known and getattr(node, "lpar", None) and isinstance(node, cst.BaseExpression):
                held.copies[core(node)] = node
            stack += [(child, known) for child in below(node)]
        return held

    def _found(self, target: ast.AST, held: _Held) -> Iterator[tuple[ast.AST, cst.CSTNode]]:
        """The other targets that the new code of one holds, each with the node that stands for it there."""
        for inner in self._targets:
            for node in self._standing(inner) if inner is not target else ():
                inside = functools.partial(self._is_inside, inner, target)
                found = held.found(node, inside, inner in self._slots)
                if found is not None:
                    yield inner, found

    def _standing(self, target: ast.AST) -> list[cst.CSTNode]:
        found = self._stands.get(target)
        if found is None:
            found = self._stands[target] = list(self._file.standing(target))
        return found

    def _new(self, target: ast.AST) -> Sequence[cst.CSTNode]:
        if isinstance(target, ast.stmt) and target in self._slots:
            return self._slots[target].written
        new = self._expressions[target].new
        return [new] if isinstance(new, cst.CSTNode) else []

    def _is_inside(self, node: ast.AST, outer: ast.AST) -> bool:
        """Whether a node stands in one that is replaced."""
        if isinstance(outer, ast.stmt) and outer in self._slots and self._slots[outer].new is None:
            return False
        around = self._file.parent(node)
        while around is not None and around is not outer:
            around = self._file.parent(around)
        return around is not None

    def _enclosing(self, target: ast.AST) -> ast.AST | None:
        """The node around one that is replaced as well."""
        around = self._file.parent(target)
        while around is not None:
            slot = self._slots.get(around) if isinstance(around, ast.stmt) else None
            change = self._expressions.get(around)
            if change is not None and not isinstance(change, Rename) or slot is not None and slot.new is not None:
                return around  # while what is renamed keeps what it is the name of
            around = self._file.parent(around)
        return None

    def _settled(self, nodes: Iterable[cst.CSTNode], target: ast.AST) -> list[cst.CSTNode]:
        """New code of a target with all changes made that concern what it holds."""
        within = self._within.get(target)
        if not within:
            return list(nodes)
        if target in self._open:
            raise Conflict(f"{self._file.text.location(target)}: changes that hold each other's code")
        self._open.append(target)
        lines, table = self._held(target).lines, dict[cst.CSTNode, New]()
        for inner, node in sorted(within.items(), key=lambda item: self._from_inside(item[0])):
            table[lines.get(node, node) if inner in self._slots else node] = self._instead(inner, node, lines, table)
        self._open.pop()
        return [new for node in nodes for new in _several(replaced_in(node, table))]

    def _from_inside(self, target: ast.AST) -> tuple[int, int, bool]:
        """Orders targets so that each comes behind those inside it."""
        start, end = self._file.text.span(target)
        return -start, end, target in self._slots

    def _instead(
        self, inner: ast.AST, node: cst.CSTNode, lines: Mapping[cst.CSTNode, cst.CSTNode], table: Table
    ) -> New:
        if not isinstance(inner, ast.stmt) or inner not in self._slots:
            change = self._expressions[inner]
            if not isinstance(change, Rename):
                return self._expression(inner)
            return renamed(_several(replaced_in(node, table))[0], change.new)
        slot, line = self._slots[inner], lines.get(node, node)
        if not isinstance(line, (cst.SimpleStatementLine, cst.BaseCompoundStatement)):
            place = self._file.text.location(inner)
            raise Unprintable("this statement cannot change while it moves with others on its line", place)
        stays = (
            [replaced_in(line, table)] if slot.new is None else _commented(line, _lines(self._settled(slot.new, inner)))
        )
        before, after = self._settled([*slot.first, *slot.before], inner), self._settled(slot.after, inner)
        return [*before, *(new for one in stays for new in _several(one)), *after]

    def _expression(self, target: ast.AST) -> cst.CSTNode:
        change = self._expressions[target]
        if isinstance(change, Rename):
            return renamed(self._file.node(target), change.new)
        new = change.new
        if isinstance(new, str):
            return cst.SimpleString(new) if new[0] in "\"'" else name(new)
        if not isinstance(new, cst.CSTNode):
            raise TypeError(f"a {type(target).__name__} cannot become several nodes")
        return self._settled([new], target)[0]

    # -- edits --------------------------------------------------------------------------------------------------------

    def written(self) -> Iterator[Written]:
        """All edits."""
        inner = {target for within in self._within.values() for target in within}
        slots: dict[ast.stmt, Slot] = {}
        for target in self._targets:
            around = self._enclosing(target)
            if around is None and isinstance(target, ast.stmt):
                slots[target] = self._slots[target]
            elif around is None and self._expressions[target].is_name:
                self._plain.append(self._expressions[target])
            elif around is None:
                yield from self._replaced(target)
            elif target not in inner and not (target in self._expressions and self._expressions[target].optional):
                place = self._file.text.location(target)
                raise Conflict(f"{place}: a change of code that another change takes away")
        settled = {target: self._settled_slot(target, slot) for target, slot in slots.items()}
        blocks = Blocks(self._file.text, self._file.parent, self._file.indentation)
        for patch in blocks.patches(blocks.settled(settled, self._moves)):
            yield from self._patched(patch)
        yield from self._file.plain(self._plain)

    def _settled_slot(self, target: ast.stmt, slot: Slot) -> Slot:
        """What really happens at a statement, and whether its comments stay where they are."""
        before, after = _lines(self._settled(slot.before, target)), _lines(self._settled(slot.after, target))
        new = None if slot.new is None else _lines(self._settled(slot.new, target))
        old = self._file.known_statement(target)
        above = old is not None and any(line.comment and self._is_held(line) for line in old.leading_lines)
        behind = (
            isinstance(old, cst.SimpleStatementLine) and has_comment(old) and self._is_held(old.trailing_whitespace)
        )
        if new:
            above = above or any(line.comment for line in new[0].leading_lines)
            behind = behind or is_compound(target) or has_comment(new[-1])
        first = _lines(self._settled(slot.first, target))
        return Slot(before, new, after, above, behind, first, slot.gap, slot.apart)

    def _moves(self, target: ast.stmt, other: ast.stmt) -> bool:
        """Whether a statement is a part of what takes the place of another one."""
        old = self._file.known_statement(other)
        if old is None:
            return False
        held = self._held(target).nodes
        return id(old) in held or any(id(child) in held for name, child in children(old) if name == "body")

    def _is_held(self, node: cst.CSTNode) -> bool:
        return any(id(node) in self._held(target).nodes for target in self._targets)

    def _replaced(self, target: ast.AST) -> Iterator[Written]:
        file, old = self._file, self._file.node(target)
        unit = file.unit_of(old)
        new, way = in_place_of(self._expression(target), old), unit.way_up(old)
        extent = unit.extent(old)
        if isinstance(old, cst.BaseExpression) and isinstance(new, cst.BaseExpression) and extent is not None:
            new = fitted(new, way)
            text = printed([new], file.style, unit.piece.indent)
            text = text.surrounded(*self._blanks(extent, text.text))
            yield from _ranked(extent, rewritten(file.text, extent, [new], text, file.extent, self._source))
            return
        tree = replaced_in(unit.tree, {old: new})
        assert isinstance(tree, cst.CSTNode)
        piece = unit.piece
        text = printed([tree], file.style, piece.hanging)
        first = len((piece.hanging + piece.before).encode())
        text = text.between(first, len(text.text.encode()) - len(piece.after.encode()))
        region = piece.start, piece.end
        yield from _ranked(region, rewritten(file.text, region, [tree], text, file.extent, self._source))

    def _blanks(self, region: Span, new: str) -> tuple[str, str]:
        """What is missing between a new text and the words beside it."""
        text = self._file.text
        first, last = text.line_span(region)
        before, after = text.segment((first, region[0])), text.segment((region[1], last))
        return " " * glued(before, new), " " * glued(new, after)

    def _patched(self, patch: Patch) -> Iterator[Written]:
        text = printed(patch.statements, self._file.style, patch.indent)
        data = text.text.encode()
        first = len(patch.indent.encode()) if patch.begun and text.text.startswith(patch.indent) else 0
        last = len(data) - len(self._file.text.newline) if patch.ended and patch.statements else len(data)
        text = text.between(first, last).surrounded(patch.lead, patch.tail)
        file = self._file
        found = rewritten(file.text, patch.region, patch.statements, text, file.extent, self._source)
        if patch.region[0] < patch.region[1]:
            yield from _ranked(patch.region, found)
        else:
            rank = (BELOW, -patch.depth) if patch.behind else (ABOVE, patch.depth)
            yield from (replace(one, rank=rank) for one in found)

    def _origin(self, node: cst.CSTNode) -> Origin | None:
        return next((origin for file in self._files if (origin := file.origin(node)) is not None), None)


def _ranked(region: Span, found: Iterable[Written]) -> Iterator[Written]:
    for one in found:
        yield replace(one, rank=(ENDS if one.edit.start > region[0] else BEGINS, 0))


def _several(new: New) -> Sequence[cst.CSTNode]:
    return [new] if isinstance(new, cst.CSTNode) else new


def _lines(new: Union[str, cst.CSTNode, Sequence[cst.CSTNode]]) -> list[Statement]:
    """Statements as lines of a body."""
    if isinstance(new, str):
        raise TypeError(f"a statement becomes statements, not the text {new!r}")
    found: list[Statement] = []
    for node in _several(new):
        if isinstance(node, cst.BaseExpression):
            node = cst.Expr(node)
        if isinstance(node, cst.BaseSmallStatement):
            node = cst.SimpleStatementLine([node])
        if not isinstance(node, (cst.SimpleStatementLine, cst.BaseCompoundStatement)):
            raise TypeError(f"a {type(node).__name__} is no statement")
        found.append(node)
    return found


def _commented(old: Statement, new: list[Statement]) -> list[Statement]:
    """Statements with the comments above and behind the one whose place they take, where they have none themselves."""
    if not new:
        return new
    known = {id(line) for one in new for line in one.leading_lines}
    own = any(line.comment for line in new[0].leading_lines)
    if not own and not any(id(line) in known for line in old.leading_lines):
        new[0] = new[0].with_changes(leading_lines=old.leading_lines)
    last = new[-1]
    if isinstance(old, cst.SimpleStatementLine) and isinstance(last, cst.SimpleStatementLine):
        if has_comment(old) and not has_comment(last):
            new[-1] = last.with_changes(trailing_whitespace=old.trailing_whitespace)
    return new


def _last(owner: ast.AST | None) -> ast.stmt:
    body = getattr(owner, "body", None)
    if not isinstance(body, list) or not body:
        raise ValueError("statements are inserted before or after another, or into a body that has one")
    found: ast.stmt = body[-1]
    return found

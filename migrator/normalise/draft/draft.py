"""Modules of a program while they are rewritten step by step, with the origin of every line."""

from __future__ import annotations

import ast
import bisect
import contextlib
import copy
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from migrator import rewrite
from migrator.engine.fixes import in_order, splice
from migrator.resolve.module import Module, Place
from migrator.resolve.project import Definition, Project
from migrator.vocabulary.diagnostics import Edit, Location
from migrator.vocabulary.unsupported import Unsupported

Origin = tuple[str, int]
"""Path and number of a line of the program as it is on disk."""


@dataclass(frozen=True)
class Change:
    """One edit; `origins` says for each line of its text where it was written first."""

    edit: Edit
    origins: tuple[Origin | None, ...] = ()
    moved: bool = False
    """Whether these are lines of the drafts as they are before the change, not of the program as it is on disk."""

    @classmethod
    def of(cls, module: Module, *changes: rewrite.Change) -> list[Change]:
        """What changes of nodes of a module come to; nothing where its code cannot be printed, so that it has to stay."""
        try:
            return [cls(written.edit, written.origins, moved=True) for written in module.cst.written(changes)]
        except rewrite.Unprintable:
            return []

    @classmethod
    def every(cls, wanted: Iterable[tuple[Module, rewrite.Change]], homes: Iterable[Module] = ()) -> list[Change]:
        """What changes of nodes of several modules come to, which are made all or not at all; `homes` are others that nodes
        come from. Raises Unsupported where code cannot be printed, so that it has to stay."""
        by_module: dict[Module, list[rewrite.Change]] = {}
        for module, change in wanted:
            by_module.setdefault(module, []).append(change)
        files = [module.cst for module in dict.fromkeys([*by_module, *homes])]
        try:
            found = [one for module, mine in by_module.items() for one in module.cst.written(mine, files)]
        except rewrite.Unprintable as error:
            raise Unsupported(str(error)) from error
        return [cls(written.edit, written.origins, moved=True) for written in found]


class Drafts:
    """The modules of a project in their present state. `project` is replaced by each `apply`."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.obstacles: dict[tuple[str, str], str] = {}
        """Why an expression (path and text) was left as it is."""
        self.model_classes: dict[tuple[str, str], str] = {}
        """Names of the classes that functions (path and name) built their networks with, and that are taken apart."""
        self.owners: dict[tuple[str, str], str] = {}
        """Names of the classes that functions were methods of."""
        self.layer_classes: set[tuple[str, str]] = set()
        """Classes (path and name) whose one method that makes layers is a function of their name now."""
        self.in_place: set[tuple[str, str]] = set()
        """Functions (path and name) that stand where the class stood that they built their networks with."""
        self.shared_params: set[tuple[str, str]] = set()
        """Model_fns (path and name) whose params were handed to them by the program, not copied by their Estimator."""
        self.renamed: dict[str, str] = {}
        """New names of local names of functions whose bodies took the place of a call, with those that they had."""
        self.remarks: list[tuple[Location, str]] = []
        """What the owner should know about a change, with its place in the program as it is on disk."""
        self._first = dict(project.modules)
        self._origins: dict[str, list[Origin]] = {}

    def copy(self) -> Drafts:
        """Drafts in the same state, which go their own way."""
        other = copy.copy(self)
        for name, value in vars(self).items():
            if isinstance(value, (dict, list, set)):
                setattr(other, name, value.copy())
        return other

    @property
    def originals(self) -> list[Module]:
        """The modules as they are on disk."""
        return list(self._first.values())

    @property
    def changed(self) -> bool:
        """Whether any module differs from its file."""
        return bool(self._origins)

    def origin(self, module: Module, line: int) -> Origin:
        """Where a line (from 1) of a module comes from."""
        table = self._origins.get(module.path)
        return table[min(line, len(table)) - 1] if table else (module.path, line)

    def location(self, module: Module, place: Place) -> Location:
        """Where a node of a draft stands in the program as it is on disk."""
        if module.path not in self._origins:
            return module.location(place)
        start = module.span(place)[0]
        number = bisect.bisect_right(module.line_starts, start)
        path, line = self.origin(module, number)
        first = self._first[path]
        old, new = _line(first, line), _line(module, number)
        column = start - module.line_starts[number - 1] if old == new else len(old) - len(old.lstrip())
        return first.location(first.line_starts[line - 1] + column)

    def rename(self, new: str, old: str) -> None:
        """Remember that a local name got a new one: the last of several in a row goes back to the first."""
        old = self.renamed.get(old, old)
        known = self.renamed.setdefault(new, old) == old
        if not known or any(re.search(rf"\b{new}\b", module.text) for module in self._first.values()):
            self.renamed[new] = new

    def remark(self, module: Module, node: ast.expr, text: str) -> None:
        """Notes what the owner should know about what becomes of a node."""
        remark = self.location(module, node), text
        if remark not in self.remarks:  # a change that is tried again
            self.remarks.append(remark)

    def moved(self, old: tuple[str, str], new: tuple[str, str]) -> None:
        """Remember that a function (path and name) stands in another file, in the place of its class."""
        for table in (self.model_classes, self.owners):
            if old in table:
                table[new] = table.pop(old)
        if old in self.shared_params:
            self.shared_params.add(new)
        self.in_place.add(new)

    def obstacle(self, module: Module, node: ast.expr) -> str | None:
        """Why an expression could not be prepared."""
        return self.obstacles.get((module.path, module.segment(node)))

    def model_class(self, function: Definition) -> str:
        """The name of the class that a function built its network with before it was taken apart; else an empty text."""
        return self.model_classes.get((function.module.path, function.name), "")

    def owner(self, function: Definition) -> str:
        """The name of the class that a function was a method of; else an empty text."""
        return self.owners.get((function.module.path, function.name), "")

    def apply(self, changes: Iterable[Change]) -> None:
        """Makes all changes at once. They must not overlap."""
        by_path: dict[str, list[Change]] = {}
        for change in {change.edit: change for change in changes}.values():
            by_path.setdefault(change.edit.path, []).append(change)
        if not by_path:
            return
        changed: dict[str, Module] = {}
        tables = {}
        for path, mine in by_path.items():
            old = self.project.modules[path]
            text = splice(old.source, [change.edit for change in mine]).decode("utf-8", "surrogatepass")
            new = Module(path, text)
            new.inherited_dialect, new.inherited_reason = old.module_dialect, old.dialect_reason
            new.find_fixes = self.project.fixes
            table = self._moved(old, new, {change.edit: self._first_lines(change) for change in mine})
            new.tree  # noqa: B018 - a draft that does not parse must not come into being
            tables[path] = table
            changed[path] = new
        self._origins.update(tables)
        self.project = self.project.revised(changed)

    def apply_all(self, paths: Iterable[str], find: Callable[[Project, Module], Iterable[list[Change]]]) -> None:
        """Makes the first changes that are found for a module until there are no more, or they come to what does not parse."""
        for path in paths:
            with contextlib.suppress(SyntaxError, rewrite.Unprintable):
                while changes := next(filter(None, find(self.project, self.project.modules[path])), None):
                    self.apply(changes)

    def settle(self, paths: Iterable[str], find: Callable[[Module], Iterable[rewrite.Change]]) -> None:
        """Makes all changes that are found in some modules, but for those of code that cannot be printed."""
        made: list[Change] = []
        for module in [self.project.modules[path] for path in paths]:
            with contextlib.suppress(rewrite.Unprintable):
                for change in find(module):
                    made += Change.of(module, change)
        self.apply(made)

    def settle_all(self, paths: Iterable[str], find: Callable[[Module], Iterable[rewrite.Change]]) -> None:
        """Makes all changes that are found in some modules. Raises Unprintable."""
        modules = [self.project.modules[path] for path in paths]
        found = [one for module in modules for one in module.cst.written(find(module))]
        self.apply(Change(written.edit, written.origins, moved=True) for written in found)

    def _first_lines(self, change: Change) -> tuple[Origin | None, ...]:
        """The origins of the lines of a change."""
        if not change.moved:
            return change.origins
        modules = self.project.modules
        return tuple(one and self.origin(modules[one[0]], one[1]) for one in change.origins)

    def _moved(self, old: Module, new: Module, origins: Mapping[Edit, tuple[Origin | None, ...]]) -> list[Origin]:
        """The origins of the lines of `new`, which `old` became."""
        table: list[Origin] = []
        pieces: list[tuple[int, int, Edit | None]] = []
        """Start in the new text, start in the old text or in the edit's text, and the edit."""
        position = cursor = 0
        for edit in in_order(origins):
            pieces.append((cursor, position, None))
            cursor += edit.start - position
            pieces.append((cursor, 0, edit))
            cursor += len(edit.text.encode("utf-8", "surrogatepass"))
            position = edit.end
        pieces.append((cursor, position, None))
        starts = [piece[0] for piece in pieces]
        ends = [*new.line_starts[1:], len(new.source)]
        lines = [new.source[start:end] for start, end in zip(new.line_starts, ends)]
        for number, start in enumerate(new.line_starts):
            blanks = len(lines[number]) - len(lines[number].lstrip(b" \t")) if number else 0
            index = bisect.bisect_right(starts, start + blanks) - 1
            begin, offset, within_edit = pieces[index]
            if within_edit is None:
                line = bisect.bisect_right(old.line_starts, offset + start + blanks - begin)
                table.append(self.origin(old, line))
                continue
            edit = within_edit
            within = edit.text.encode("utf-8", "surrogatepass")[: max(0, start + blanks - begin)].count(b"\n")
            known = origins[edit][within] if within < len(origins[edit]) else None
            table.append(known or self.origin(old, bisect.bisect_right(old.line_starts, edit.start)))
        return table

    def final(self, edits: Iterable[Edit]) -> list[Edit]:
        """Edits of the files on disk that lead to the drafts with `edits` applied to them."""
        by_path: dict[str, list[Edit]] = {path: [] for path in self._origins}
        for edit in dict.fromkeys(edits):
            by_path.setdefault(edit.path, []).append(edit)
        found: list[Edit] = []
        for path, mine in by_path.items():
            if path in self._origins:
                draft = self.project.modules[path]
                new = Module(path, splice(draft.source, mine).decode("utf-8", "surrogatepass"))
                lines = self._moved(draft, new, dict.fromkeys(mine, ()))
                found += _hunks(self._first[path], new.source, lines)
            else:
                found += mine
        return found


def _line(module: Module, number: int) -> str:
    starts = [*module.line_starts, len(module.source)]
    return module.source[starts[number - 1] : starts[number]].decode("utf-8", "surrogatepass").rstrip()


def _hunks(old: Module, new: bytes, origins: Iterable[Origin]) -> list[Edit]:
    """Edits of whole lines from `old` to `new`, whose lines were written at `origins`.

    A hunk takes the line break before it along, so that nothing else can be inserted right at its beginning.
    """
    before, after = old.source.splitlines(keepends=True), new.splitlines(keepends=True)
    kept = [
        (number - 1, index)
        for index, (line, (path, number)) in enumerate(zip(after, origins))
        if path == old.path and number <= len(before) and before[number - 1] == line
    ]
    found = []
    first, begin = 0, 0
    for last, end in (*_in_order(kept), (len(before), len(after))):
        if first < last or begin < end:
            start, text = old.line_starts[first] if first < len(before) else len(old.source), b"".join(after[begin:end])
            stop = old.line_starts[last] if last < len(before) else len(old.source)
            lead = next((end for end in (b"\r\n", b"\n") if first and before[first - 1].endswith(end)), b"")
            found.append(Edit(old.path, start - len(lead), stop, (lead + text).decode("utf-8", "surrogatepass")))
        first, begin = last + 1, end + 1
    return found


def _in_order(pairs: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Of pairs whose second parts grow, as many as there can be whose first parts grow as well."""
    ends: list[int] = []
    """Of each length, the least first part that such a row can end with."""
    rows: list[tuple[tuple[int, int], int]] = []
    """Each pair, and the number of the one before it in its row."""
    last: list[int] = []
    for pair in pairs:
        place = bisect.bisect_left(ends, pair[0])
        rows.append((pair, last[place - 1] if place else -1))
        ends[place : place + 1] = [pair[0]]
        last[place : place + 1] = [len(rows) - 1]
    found: list[tuple[int, int]] = []
    at = last[-1] if last else -1
    while at >= 0:
        pair, at = rows[at]
        found.append(pair)
    return found[::-1]

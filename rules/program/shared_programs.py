"""Programs that share code: a function that becomes a layer for one of them is missing where another one calls it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Optional, Union

from migrator.discover.components import connected
from migrator.engine.fixes import Selection
from migrator.resolve.module import Module
from migrator.resolve.project import Definition, Project
from migrator.vocabulary.diagnostics import Diagnostic, Edit, Fix, ProgramUnit, Severity

from ..bridge.reached import reached

Results = list[Union[Diagnostic, ProgramUnit]]
"""What is said about one program. One diagnostic at most has a fix that moves it."""


def _places(module: Module, node: ast.AST) -> list[ast.AST]:
    """What is rewritten with a use of a name: itself, or the function that gets it, where the name stays as it is."""
    parent = module.parent(node)
    keyword = parent if isinstance(parent, ast.keyword) else node
    call = module.parent(parent) if isinstance(parent, ast.keyword) else parent
    given = isinstance(call, ast.Call) and keyword in (*call.args, *call.keywords)
    return [node, call.func] if given and isinstance(call, ast.Call) else [node]


def is_native(results: Results) -> bool:
    """Whether all Estimators of a program become layers."""
    return all(result.tier == "native" for result in results if isinstance(result, ProgramUnit))


def sharing_code(project: Project, programs: Sequence[list[Module]]) -> list[list[int]]:
    """Numbers of the programs that import a file of TensorFlow code together, as far as there are several."""
    reach = [{module.path for module in reached(project, group, False)} for group in programs]
    edges = [(path, str(number)) for number, paths in enumerate(reach) for path in paths]
    numbers = {str(number): number for number in range(len(programs))}
    found = connected({*numbers, *(path for path, _ in edges)}, edges)
    shared = [sorted(numbers[name] for name in group if name in numbers) for group in found]
    return sorted(group for group in shared if len(group) > 1)


class Sharing:
    """Looks at the fixes of all programs together. `results` has one entry for each, in order."""

    def __init__(self, project: Project, results: Sequence[Results]) -> None:
        self.project = project
        self.fixes = [next((r.fix for r in found if isinstance(r, Diagnostic) and r.fix), None) for found in results]
        self.gone = [dict(self._gone(fix)) if fix is not None else {} for fix in self.fixes]
        """By program, the functions that its fix takes away, by path and name."""

    def _gone(self, fix: Fix) -> Iterator[tuple[tuple[str, str], Module]]:
        if len(self.project.modules) == 1:
            return
        by_path: dict[str, list[Edit]] = {}
        for edit in fix.edits:
            by_path.setdefault(edit.path, []).append(edit)
        for path, edits in by_path.items():
            module = self.project.modules[path]
            for node in module.tree.body:
                if isinstance(node, ast.FunctionDef) and _touched(module.span(node)[0], edits):
                    if not any(re.search(rf"^(def|class) {node.name}\b", edit.text, re.MULTILINE) for edit in edits):
                        yield (path, node.name), module

    def conflicts(self) -> Iterator[tuple[int, str]]:
        """Numbers of programs that would take away what somebody else calls, with the reason and the place."""
        for number, gone in enumerate(self.gone):
            for (path, name), module in gone.items():
                place = self._caller(number, module, name)
                if place is not None:
                    yield number, f"`{name}` of {path} is used by others as well ({place})"
                    break
                other = next((o for o in self._partners(number, (path, name)) if not self._agree(number, o)), None)
                if other is not None:
                    yield number, f"`{name}` of {path} would become another layer for another program"
                    break

    def _partners(self, number: int, function: tuple[str, str]) -> list[int]:
        return [other for other, gone in enumerate(self.gone) if other != number and function in gone]

    def _agree(self, one: int, other: int) -> bool:
        first, second = self.fixes[one], self.fixes[other]
        assert first is not None and second is not None
        return Selection().add(_together(first, second))

    def _caller(self, number: int, module: Module, name: str) -> Optional[str]:
        """Where a function is used that no program rewrites for which it goes as well."""
        concerned = [number, *self._partners(number, (module.path, name))]
        edits = [edit for fix in map(self.fixes.__getitem__, concerned) if fix is not None for edit in fix.edits]
        for other, node in self._uses(module, name):
            spans = [other.span(place) for place in _places(other, node)]
            own = [edit for edit in edits if edit.path == other.path]
            if not any(edit.start < end and start < edit.end for edit in own for start, end in spans):
                return other.location(node).line_text
        return None

    def _uses(self, module: Module, name: str) -> Iterator[tuple[Module, ast.AST]]:
        yield from self.project.readers.of(module, module.analysis.root, name)
        function = next(n for n in module.tree.body if isinstance(n, ast.FunctionDef) and n.name == name)
        for other in self.project.modules.values():
            if other is not module and name.encode() in other.source:
                for entry in other.imports:
                    imported = isinstance(entry.statement, ast.ImportFrom) and entry.alias.name == name
                    if imported and self.project.exported(entry.target, other) == Definition(module, function):
                        yield other, entry.alias

    def merged(self, results: Sequence[Results]) -> Iterator[Union[Diagnostic, ProgramUnit]]:
        """All results; programs for which the same function goes have one fix, that of the first of them."""
        leaders = list(range(len(results)))
        for number, gone in enumerate(self.gone):
            leaders[number] = min(
                [leaders[o] for f in gone for o in self._partners(number, f) if o < number] or [number]
            )
        for number, found in enumerate(results):
            fix = self.fixes[number]
            for result in found:
                if fix is not None and isinstance(result, Diagnostic) and result.fix is fix:
                    yield self._led(number, leaders, result, fix)
                else:
                    yield result

    def _led(self, number: int, leaders: list[int], diagnostic: Diagnostic, fix: Fix) -> Diagnostic:
        if leaders[number] != number:
            shared = ", ".join(f"`{name}`" for path, name in self.gone[number] if self._partners(number, (path, name)))
            message = f"{diagnostic.message}; together with the other programs that use {shared}"
            return replace(diagnostic, message=message, fix=None, severity=Severity.INFO)
        for follower, leader in enumerate(leaders):
            other = self.fixes[follower]
            if leader == number and follower != number and other is not None:
                fix = _together(fix, other)
        return replace(diagnostic, fix=fix)


def _touched(position: int, edits: list[Edit]) -> bool:
    return any(edit.start <= position < edit.end for edit in edits)


def _together(one: Fix, other: Fix) -> Fix:
    edits = tuple(dict.fromkeys((*one.edits, *other.edits)))
    return replace(one, edits=edits, new_files=tuple(dict.fromkeys((*one.new_files, *other.new_files))))

"""The files of a component in their present state: what edits make of them, and where what stands in them came from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from migrator.discover.sources import SourceFile, translate_newlines
from migrator.engine.context import parse, parse_problem
from migrator.engine.fixes import splice
from migrator.engine.places import Shift
from migrator.engine.reparsing import still_parses
from migrator.resolve.module import Module
from migrator.vocabulary.diagnostics import Diagnostic, Edit


@dataclass(frozen=True)
class Spliced:
    """What edits make of files, and those that they break, with the reason."""

    edits: Mapping[str, list[Edit]]
    results: Mapping[str, tuple[SourceFile, Module]]
    broken: Mapping[str, Exception]


class Texts:
    """Files by path, which change. `failures` says which of them do not parse."""

    def __init__(self, sources: Mapping[str, SourceFile]) -> None:
        self.current = dict(sources)
        self.modules: dict[str, Module] = {}
        self.failures: dict[str, Diagnostic] = {}
        self.shifts: dict[str, list[Shift]] = {}
        """How places moved, change by change."""
        self.starts: dict[str, SourceFile] = {}
        """The files as rules first see them, of those that were converted before."""
        for source in sources.values():
            try:
                source = self._converted(source)
                self.modules[source.path] = parse(source)
            except Exception as error:
                self.failures[source.path] = parse_problem(source, error)

    def _converted(self, source: SourceFile) -> SourceFile:
        """The file after what is done to it first."""
        fix = source.conversion.change.fix if source.conversion is not None else None
        if fix is None:
            return source
        new = source.with_data(splice(source.data, fix.edits))
        self.shifts[source.path] = [Shift.of(fix.edits, source.data)]
        self.current[source.path] = self.starts[source.path] = new
        return new

    def changes_nothing(self, edits: Iterable[Edit]) -> bool:
        """Whether edits write what is there."""
        return all(self.modules[edit.path].source[edit.start : edit.end] == edit.text.encode() for edit in edits)

    def spliced(self, edits: Mapping[str, list[Edit]]) -> Spliced:
        """What edits make of the files, by path; these stay as they are."""
        wanted: dict[str, list[Edit]] = {}
        results: dict[str, tuple[SourceFile, Module]] = {}
        broken: dict[str, Exception] = {}
        for path, changes in edits.items():
            source = self.current[path]
            newline = source.newline if source.mixed else "\n"
            wanted[path] = [replace(edit, text=translate_newlines(edit.text, newline)) for edit in changes]
            try:
                results[path] = _changed(source, self.modules[path], wanted[path])
            except Exception as error:
                broken[path] = error
        return Spliced(wanted, results, broken)

    def take(self, spliced: Spliced) -> None:
        """Let the files become what edits made of them."""
        for path, (source, module) in spliced.results.items():
            self.shifts.setdefault(path, []).append(Shift.of(spliced.edits[path], self.current[path].data))
            self.current[path] = source
            self.modules[path] = module

    def add(self, path: str) -> None:
        """Parse a file that is new among the present ones."""
        self.modules[path] = parse(self.current[path])


def _changed(source: SourceFile, old: Module, edits: list[Edit]) -> tuple[SourceFile, Module]:
    """A file after edits. Raises what says that it cannot be read or parsed any more."""
    changed = source.with_data(splice(old.source, edits))
    module = Module(source.path, changed.text)
    if "laid out" in old.memo:
        module.share(old.memo["laid out"])
    if "tree" not in module.__dict__ and not still_parses(old, edits):
        module.tree  # noqa: B018  parses now
    module.inherited_dialect = old.module_dialect  # the evidence may be rewritten by now
    return changed, module

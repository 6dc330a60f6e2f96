"""Migrates one component: the files of a tree that import each other, as text, in memory.

Each round parses the files, runs the rules, and applies the fixes that are allowed and do not overlap. The rounds end
when nothing is left to apply. Whatever goes wrong with a file or in a rule becomes a diagnostic; the rest goes on.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from migrator.discover.cells import CellBorder
from migrator.discover.sources import SourceFile
from migrator.engine.apart import Parting, revised
from migrator.engine.checking import Checker, Finding, Findings
from migrator.engine.context import Context
from migrator.engine.fixes import Selection, refusal
from migrator.engine.places import Shift, in_original, in_result
from migrator.engine.registry import Registry, load
from migrator.engine.texts import Texts
from migrator.resolve.module import Module
from migrator.vendor import vendoring
from migrator.vocabulary.diagnostics import Diagnostic, Edit, Outcome
from migrator.vocabulary.problems import (
    CELL,
    ENCODING,
    OCCUPIED,
    broken_problem,
    fixpoint_problem,
    problem,
)
from migrator.vocabulary.units import Units, is_remark
from migrator.write.companions import Companions

if TYPE_CHECKING:
    from migrator.vocabulary.settings import Settings

MAX_ROUNDS = 10
_MAX_RESTARTS = 3
_MAX_PARTINGS = 5

Stuck = frozenset[tuple[str, str]]


def migrate_component(
    files: Iterable[SourceFile],
    settings: Settings,
    registry: Registry | None = None,
    context: Iterable[SourceFile] = (),
) -> list[Outcome]:
    """Migrate files that belong together.

    Args:
      files: the component.
      settings: what to select, and whether unsafe fixes are applied.
      registry: the rules; by default all that are installed.
      context: further files that rules may look into, but that are not changed here.

    Returns:
      One outcome for each of `files`, in their order, then one for each file to create. Places are those of the
      original text; with `settings.apply`, what remains is placed in the new text.
    """
    sources = {source.path: source for source in files}
    return _migrate(sources, Context(context), settings, registry or load())


def _migrate(
    sources: Mapping[str, SourceFile], context: Context, settings: Settings, registry: Registry
) -> list[Outcome]:
    banned: set[tuple[str, str]] = set()
    notes: list[Diagnostic] = []
    apart: Parting | None = None
    partings = 0
    while True:
        run = _settled(sources, context, settings, registry, banned, notes, apart)
        if run is None:
            return [
                Outcome(path, "failed", source.raw, source.raw, remaining=_about(path, notes))
                for path, source in sources.items()
            ]
        is_last = partings == _MAX_PARTINGS - 1 or partings > 0 and apart is None
        other = apart if is_last else run.parting()
        if other == apart:
            return run.outcomes(notes)
        apart, partings = other, partings + 1


def _settled(
    sources: Mapping[str, SourceFile],
    context: Context,
    settings: Settings,
    registry: Registry,
    banned: set[tuple[str, str]],
    notes: list[Diagnostic],
    apart: Parting | None,
) -> _Run | None:
    """A run that has come to its end, without the rules that come to none, which are `banned` and noted."""
    for _ in range(_MAX_RESTARTS):
        run = _Run(sources, context, settings, registry, banned, apart)
        stuck = run.to_fixpoint()
        if not stuck:
            return run
        # Start again without the rules that do not come to an end.
        banned |= stuck
        for path in sorted({path for _, path in stuck}):
            codes = ", ".join(sorted(code for code, where in stuck if where == path))
            notes.append(fixpoint_problem(path, codes, MAX_ROUNDS))
    return None


class _Run:
    """One attempt at a component."""

    def __init__(
        self,
        sources: Mapping[str, SourceFile],
        context: Context,
        settings: Settings,
        registry: Registry,
        banned: set[tuple[str, str]],
        apart: Parting | None = None,
    ) -> None:
        self.apart = apart
        copies = apart.copies if apart is not None else {}
        self.original = {**sources, **{new: replace(sources[old], path=new) for old, new in copies.items()}}
        sources = self.original
        self.texts = Texts(sources)
        self.settings = settings
        self.banned = set(banned)
        self.checker = Checker(registry, settings, apart.kept if apart is not None else frozenset())
        self.companions = Companions(self.texts.current)
        self.modules = self.texts.modules
        self.notes: list[Diagnostic] = []
        self.conversions = [
            source.conversion for path, source in sources.items() if source.conversion and path not in copies
        ]
        self.applied: list[Diagnostic] = [conversion.change for conversion in self.conversions]
        self.left: list[Diagnostic] = []
        self.units = Units()
        rules = registry.program_rules
        if any(
            rule.concerns(module) and rule.looks_around(module) for rule in rules for module in self.modules.values()
        ):
            others = {path: module for path, module in context.modules.items() if path not in sources}
            self.modules.update(others)
        self.start = dict(self.modules)
        self.before = {**self.modules, **{path: self._as_it_was(path) for path in self.texts.starts}}
        self.redirected: dict[str, str] = {}
        if apart is not None:
            self._redirect(apart)

    def _as_it_was(self, path: str) -> Module:
        """The original text of a converted file, which has places, and maybe no tree."""
        return Module(path, self.original[path].text, lenient=True)

    def _redirect(self, apart: Parting) -> None:
        """Let what moves import the copies."""
        for note in apart.notes():
            self._note(note)
        edits: dict[str, list[Edit]] = {}
        for edit in apart.edits:
            edits.setdefault(edit.path, []).append(edit)
        self.texts.take(self.texts.spliced(edits))
        self.redirected = {path: self.texts.current[path].text for path in apart.copies.values()}

    def parting(self) -> Parting | None:
        """How the programs of this attempt are to be kept apart in the next one; as they are where this one is the last."""
        copies = self.apart.copies if self.apart is not None else {}
        originals = {new: old for old, new in copies.items()}
        texts = {path: self.texts.starts.get(path, source).text for path, source in self.original.items()}
        texts |= self.redirected
        changed = {originals.get(path, path) for path, text in texts.items() if self.texts.current[path].text != text}
        before = {path: self.start[path] for path in texts if path not in originals and path in self.start}
        return revised(self.apart, before, self.units.all(), changed, self.checker.withheld)

    # -- rounds -------------------------------------------------------------------------------------------------------

    def to_fixpoint(self) -> Stuck:
        """Run rounds; returns rule and file of the fixes that never end, if any."""
        chosen: list[Finding] = []
        for number in range(MAX_ROUNDS + 1):
            findings = self._check()
            candidates = self._candidates(findings)
            if number == MAX_ROUNDS and candidates:
                return frozenset((finding.rule, path) for finding in candidates for path in finding.paths)
            modules, shifts = dict(self.modules), {path: list(steps) for path, steps in self.texts.shifts.items()}
            chosen = self._apply(candidates)
            self._settle(findings, chosen, modules, shifts)
            self._skip_settled(findings, chosen)
            if not chosen:
                break
        return frozenset()

    def _skip_settled(self, findings: Findings, chosen: list[Finding]) -> None:
        """Spare the next round the files of which the applied fixes know what is left to say about them."""
        if any(self.checker.clarifies(finding) for finding in chosen):
            return
        known: dict[str, list[Diagnostic]] = {}
        settled: set[int] = set()
        for finding in chosen:
            fix = finding.diagnostic.fix
            if fix is not None and fix.leaves is not None:
                settled.add(id(finding))
                for path in finding.paths:
                    known.setdefault(path, []).extend(fix.leaves)
        unsettled = [finding for finding in findings.found if id(finding) not in settled]
        open_paths = {path for f in unsettled if not self._said_anew(f, known) for path in f.paths}
        for path, left in known.items():
            if path not in open_paths:
                self.checker.skip(self.modules[path], left)
        self.checker.retire({code for code, _ in findings.units} | {f.rule for f in unsettled if f.program})

    @staticmethod
    def _said_anew(finding: Finding, known: Mapping[str, list[Diagnostic]]) -> bool:
        """Whether one of the applied fixes says what becomes of a remark."""
        old, path = finding.diagnostic, finding.diagnostic.location.path
        again = known.get(path, ())
        return old.fix is None and any((new.code, new.location) == (old.code, old.location) for new in again)

    def _check(self) -> Findings:
        editable = [module for path, module in self.modules.items() if self._may_edit(path)]
        findings = self.checker.check(editable, self.modules, self.banned, self._may_apply)
        self.banned |= findings.crashed
        self.notes += findings.problems
        return findings

    def _may_edit(self, path: str) -> bool:
        if path in self.settings.declined_files:
            return False
        return path in self.original and path in self.modules and not vendoring.is_vendored(self.modules[path].text)

    def _candidates(self, findings: Findings) -> list[Finding]:
        """Findings whose fix may be applied, those that matter most first."""
        possible = [finding for finding in findings.found if self._may_apply(finding)]
        held: set[str] = set()
        for finding in possible:
            fix = finding.diagnostic.fix
            reason = self.companions.occupied(fix.new_files) if fix is not None else None
            if reason is not None:
                held |= finding.paths
                self._note(problem(OCCUPIED, finding.diagnostic.location.path, reason))
        if held:  # programs that need a file which cannot be made are left alone as a whole
            findings.found = [finding for finding in findings.found if not finding.paths & held]
        candidates = [finding for finding in possible if not finding.paths & held]
        return sorted([c for c in candidates if self.checker.clarifies(c)] or candidates, key=_priority)

    def _may_apply(self, finding: Finding) -> bool:
        """Whether its fix is allowed, and changes something."""
        fix = finding.diagnostic.fix
        if fix is None or not self.checker.applicable(finding.diagnostic):
            return False
        if not all(self._may_edit(path) for path in fix.paths) or self._declined(finding.diagnostic):
            return False
        return not self.texts.changes_nothing(fix.edits) or self.companions.would_change(fix.new_files)

    def _declined(self, diagnostic: Diagnostic) -> bool:
        if not self.settings.declined:
            return False
        original = in_original(diagnostic, self.texts.shifts, self.modules, self.before)
        return (diagnostic.code, original.location) in self.settings.declined

    def _note(self, diagnostic: Diagnostic) -> None:
        if diagnostic not in self.notes:
            self.notes.append(diagnostic)

    def _apply(self, candidates: list[Finding]) -> list[Finding]:
        """Splice the fixes that do not overlap; those whose result does not parse are banned. Returns the applied."""
        while candidates:
            selection = Selection()
            chosen = [
                finding for finding in candidates if finding.diagnostic.fix and selection.add(finding.diagnostic.fix)
            ]
            spliced = self.texts.spliced(selection.edits())
            if not spliced.broken:
                break
            for path, error in spliced.broken.items():
                self._ban(path, error, chosen)
            candidates = [finding for finding in candidates if not self._is_banned(finding)]
        else:
            return []
        self.texts.take(spliced)
        for finding in chosen:
            if finding.diagnostic.fix is not None:
                for path in self.companions.add(finding.diagnostic.fix.new_files):
                    self.texts.add(path)
        return chosen

    def _ban(self, path: str, error: Exception, chosen: Iterable[Finding]) -> None:
        """Take back the fixes that break `path`: those that do so alone, else all that touch it."""
        touching = [finding for finding in chosen if finding.diagnostic.fix and path in finding.diagnostic.fix.paths]
        guilty = [finding for finding in touching if self._breaks(finding, path)] or touching
        self.banned.update((finding.rule, path) for finding in guilty)
        codes = ", ".join(sorted({finding.diagnostic.code for finding in guilty}))
        if isinstance(error, CellBorder):
            reason = f"the rewrite of {codes} would cross the border of cells or change a magic: left alone"
            self.notes.append(problem(CELL, path, reason))
        elif isinstance(error, UnicodeEncodeError):
            reason = f"{codes} needs a character that {error.encoding} lacks: save the file as UTF-8"
            self.notes.append(problem(ENCODING, path, reason))
        else:
            self.notes.append(broken_problem(path, codes, error))

    def _breaks(self, finding: Finding, path: str) -> bool:
        fix = finding.diagnostic.fix
        edits = [edit for edit in fix.edits if edit.path == path] if fix else []
        return bool(self.texts.spliced({path: edits}).broken)

    def _refusal(self, finding: Finding, chosen: Iterable[Finding], modules: Mapping[str, Module]) -> str:
        """Why a fix was not applied in this round; empty where that is not known."""
        fix = finding.diagnostic.fix
        if fix is None:
            return ""
        closed = sorted(path for path in fix.paths if not self._may_edit(path))
        if closed:
            return f"it would change {closed[0]}, which is not to be changed"
        if self._is_banned(finding):
            return "its result is no valid program"
        if not self.checker.applicable(finding.diagnostic):
            return "it is not asked for"

        def line(edit: Edit) -> str:
            return f"{edit.path}:{modules[edit.path].source[: edit.start].count(bytes([10])) + 1}"

        return refusal(fix, (other.diagnostic for other in chosen), line)

    def _is_banned(self, finding: Finding) -> bool:
        return any((finding.rule, path) in self.banned for path in finding.paths)

    # -- results ------------------------------------------------------------------------------------------------------

    def _settle(
        self,
        findings: Findings,
        chosen: list[Finding],
        modules: Mapping[str, Module],
        shifts: Mapping[str, list[Shift]],
    ) -> None:
        """Note what a round over `modules` said; what remains is what the last round said."""
        fixes = [finding for finding in chosen if finding.program]
        applied = {id(finding) for finding in chosen}
        refused = {
            (finding.rule, path): self._refusal(finding, chosen, modules)
            for finding in findings.found
            if finding.program and id(finding) not in applied
            for path in finding.paths
        }
        self.units.settle(findings.units, fixes, refused)
        for finding in findings.found:
            if id(finding) in applied:
                self.applied.append(in_original(finding.diagnostic, shifts, modules, self.before))
            elif is_remark(finding, fixes):
                self.notes.append(in_original(finding.diagnostic, shifts, modules, self.before))
            elif not chosen and self.settings.apply:
                self.left.append(finding.diagnostic)
            elif not chosen:
                self.left.append(in_original(finding.diagnostic, shifts, modules, self.before))

    def outcomes(self, notes: Iterable[Diagnostic]) -> list[Outcome]:
        """One outcome for each file, and for each new one."""
        left = [*self.texts.failures.values(), *notes, *self.notes]
        left += [note for conversion in self.conversions for note in conversion.notes]
        if self.settings.apply:
            left = [in_result(diagnostic, self.texts.shifts, self.before, self.modules) for diagnostic in left]
        left += self.left
        left += self.checker.unused(module for path, module in self.modules.items() if self._may_edit(path))
        left += [remark for source in self.original.values() for remark in source.remarks]
        outcomes = []
        copies = set(self.apart.copies.values()) if self.apart is not None else set()
        for path, source in self.original.items():
            after = self.texts.current[path].raw
            failed = path in self.texts.failures
            if path in copies:
                outcomes.append(
                    Outcome(path, "created", b"", after, (), _about(path, left), tuple(self.units.of(path)))
                )
                continue
            status = "failed" if failed else "unchanged" if after == source.raw else "changed"
            applied = () if status == "unchanged" else _about(path, self.applied)
            units = tuple(self.units.of(path))
            start = self.texts.starts[path].raw if path in self.texts.starts else b""
            outcomes.append(Outcome(path, status, source.raw, after, applied, _about(path, left), units, start))
        return outcomes + self.companions.outcomes()


def _about(path: str, diagnostics: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """Those located in `path`, each once, in source order."""
    mine = {diagnostic for diagnostic in diagnostics if diagnostic.location.path == path}
    return tuple(sorted(mine, key=lambda diagnostic: (diagnostic.location, diagnostic.code, diagnostic.message)))


def _priority(finding: Finding) -> tuple[bool, list[tuple[str, int, int]], str, str]:
    fix = finding.diagnostic.fix
    spans = sorted((edit.path, edit.start, edit.end) for edit in fix.edits) if fix else []
    return not finding.program, spans, finding.diagnostic.code, finding.diagnostic.message

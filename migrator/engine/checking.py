"""Runs rules over modules, each rule by itself: one that fails is reported, and the others go on."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Union

from migrator.discover.components import reach
from migrator.engine.apart import imported_paths
from migrator.engine.registry import Registry
from migrator.engine.rule import ProgramRule, Rule
from migrator.resolve.module import Module
from migrator.resolve.project import Project
from migrator.vocabulary.diagnostics import Applicability, Diagnostic, Fix, ProgramUnit, Severity
from migrator.vocabulary.problems import UNUSED_IGNORE, deep_problem, internal_problem
from migrator.vocabulary.suppressions import Suppressions, suppressions

if TYPE_CHECKING:
    from migrator.vocabulary.settings import Settings

ANYWHERE = ""
"""Stands for every file in a pair of rule and file."""


@dataclass(frozen=True)
class Finding:
    """A diagnostic and the rule that it came from."""

    diagnostic: Diagnostic
    rule: str
    """Code of the rule; diagnostics of one rule may have several codes."""
    program: bool = False

    @property
    def paths(self) -> frozenset[str]:
        """Files that it is about."""
        fix = self.diagnostic.fix
        return frozenset({self.diagnostic.location.path}) | (fix.paths if fix else frozenset())


@dataclass
class Findings:
    """What one round found."""

    found: list[Finding] = field(default_factory=list)
    units: list[tuple[str, ProgramUnit]] = field(default_factory=list)
    """Programs, with the code of the rule that named them."""
    problems: list[Diagnostic] = field(default_factory=list)
    crashed: set[tuple[str, str]] = field(default_factory=set)
    """Rule and file; rule and `ANYWHERE` for a program rule."""


class Checker:
    """The rules in force, ready to run; remembers what it found in modules that did not change."""

    def __init__(self, registry: Registry, settings: Settings, kept: frozenset[str] = frozenset()) -> None:
        """`kept` are files of programs that stay."""
        self.registry = registry
        self.kept = kept
        self.withheld: set[str] = set()
        """Those of them that would change."""
        self.settings = settings
        self._exact: dict[str, list[Rule]] = {}
        self._prefixes: list[tuple[str, Rule]] = []
        for rule in registry.file_rules:
            for symbol in rule.symbols:
                if symbol.endswith(".*"):
                    self._prefixes.append((symbol[:-1], rule))
                else:
                    self._exact.setdefault(symbol, []).append(rule)
        self._rules_for: dict[str, tuple[Rule, ...]] = {}
        self._cache: dict[str, tuple[Module, list[Finding]]] = {}
        self._comments: dict[str, tuple[Module, Suppressions]] = {}
        self._ignores: dict[str, tuple[str, ...]] = {}
        self._program_rules = list(registry.program_rules)

    def check(
        self,
        editable: Iterable[Module],
        modules: Mapping[str, Module],
        banned: set[tuple[str, str]],
        may_apply: Callable[[Finding], bool],
    ) -> Findings:
        """Run file rules over `editable`, program rules over `modules`, without the banned pairs of rule and file.

        Where a fix that clarifies may be applied, what other program rules would say of names as they are is not asked.
        """
        findings = Findings()
        editable = list(editable)
        for module in editable:
            module.component = modules
            found = self._check_file(module, findings, banned)
            kept = [finding for finding in found if self._wanted(finding, modules, banned)]
            module.fixes = self._applicable_fixes(kept)
            findings.found += kept
        for clarifying in (True, False):
            for rule in self._program_rules:
                asked = rule.clarifies == clarifying and (rule.code, ANYWHERE) not in banned
                if asked and any(rule.concerns(module) for module in modules.values()):
                    self._check_program(rule, editable, modules, findings, banned)
            self._hold_back(findings)
            if any(self.clarifies(finding) and may_apply(finding) for finding in findings.found):
                break
        self._spare_the_needed(findings, modules)
        return findings

    def _spare_the_needed(self, findings: Findings, modules: Mapping[str, Module]) -> None:
        """Where all programs stay, leave out of what they import what would not run on TensorFlow 1."""
        newer = {rule.code for rule in self.registry.file_rules if rule.needs_tensorflow_2}
        tiers = {unit.tier for _, unit in findings.units}
        if tiers != {"manual"} or not any(finding.rule in newer for finding in findings.found):
            return
        project = Project(modules)
        graph = {path: imported_paths(project, module) for path, module in modules.items()}
        needed = reach({path for _, unit in findings.units for path in unit.files}, graph)
        findings.found = [f for f in findings.found if not (f.rule in newer and f.paths & needed)]

    def _hold_back(self, findings: Findings) -> None:
        """Leave the files of a program that cannot move, or of which a part is missing, wholly as they are."""
        manual = self.kept | {path for _, unit in findings.units if unit.tier == "manual" for path in unit.files}
        left = [f.diagnostic for f in findings.found if f.program and f.diagnostic.fix is None]
        manual |= {diagnostic.location.path for diagnostic in left if diagnostic.severity > Severity.INFO}
        self.withheld |= {path for f in findings.found if self.applicable(f.diagnostic) for path in f.paths & self.kept}
        fixed = [f for f in findings.found if not (f.program and f.diagnostic.fix and f.paths & self.kept)]
        findings.found = [f for f in fixed if f.program or not (f.paths & manual)]

    def skip(self, module: Module, left: Iterable[Diagnostic]) -> None:
        """Nothing but `left` is to be found in a module, unless rules from elsewhere look at it too."""
        if self.registry.only_built_in:
            self._cache[module.path] = (module, [Finding(diagnostic, diagnostic.code) for diagnostic in left])

    def retire(self, moving: Container[str]) -> None:
        """Of the program rules only those are asked again that are `moving` something, as what file rules do makes none."""
        if self.registry.only_built_in:
            self._program_rules = [rule for rule in self._program_rules if rule.code in moving]

    def clarifies(self, finding: Finding) -> bool:
        """Whether other rules can only follow the names of its file once its fix is applied."""
        return finding.rule in self.registry.clarifying

    def applicable(self, diagnostic: Diagnostic) -> bool:
        """Whether the settings let its fix be applied."""
        fix = diagnostic.fix
        least = Applicability.UNSAFE if self.settings.unsafe else Applicability.SAFE
        return fix is not None and fix.applicability >= least and bool(fix.edits or fix.new_files)

    def _applicable_fixes(self, found: Iterable[Finding]) -> list[Fix]:
        return [f.diagnostic.fix for f in found if f.diagnostic.fix and self.applicable(f.diagnostic)]

    def _wanted(self, finding: Finding, modules: Mapping[str, Module], banned: set[tuple[str, str]]) -> bool:
        diagnostic = finding.diagnostic
        if not self.settings.selects(diagnostic.code):
            return False
        if any((finding.rule, path) in banned for path in finding.paths):
            return False
        path = diagnostic.location.path
        if self.settings.per_file_ignores and self._ignored(path, diagnostic.code):
            return False
        module = modules.get(path)
        return module is None or not self._silenced(module).silence(
            module.line_of(diagnostic.location), diagnostic.code
        )

    def _ignored(self, path: str, code: str) -> bool:
        if path not in self._ignores:
            self._ignores[path] = self.settings.ignored_in(path)
        return code.startswith(self._ignores[path])

    def _silenced(self, module: Module) -> Suppressions:
        known = self._comments.get(module.path)
        if known is None or known[0] is not module:
            found = suppressions(module.text)
            if known is not None and len(known[1].entries) == len(found.entries):
                found.used |= known[1].used  # the same comments, in text that earlier rounds changed
            known = self._comments[module.path] = (module, found)
        return known[1]

    def unused(self, modules: Iterable[Module]) -> Iterator[Diagnostic]:
        """Ignore comments of `modules` that are misspelt, or silenced nothing; this not where only some codes were looked at."""
        for module in modules:
            for line, column in self._silenced(module).misspelt:
                message = "this comment silences nothing: write `# migrate: ignore[CODE]`, or `ignore-file`"
                yield Diagnostic(UNUSED_IGNORE, message, module.located(line, column), severity=Severity.INFO)
            if self.settings.select or self.settings.ignore:
                continue
            for entry in self._silenced(module).unused():
                what = f"nothing of {entry.prefix}" if entry.prefix else "nothing"
                where = "in this file" if entry.whole_file else "on this line"
                message = f"unused comment: there is {what} {where} to ignore"
                location = module.located(entry.line, entry.column)
                yield Diagnostic(UNUSED_IGNORE, message, location, severity=Severity.INFO)

    # -- file rules ---------------------------------------------------------------------------------------------------

    def _check_file(self, module: Module, findings: Findings, banned: set[tuple[str, str]]) -> list[Finding]:
        if not module.mentions_tensorflow:
            return []
        known = self._cache.get(module.path)
        if known is not None and known[0] is module:
            return known[1]
        failed: dict[str, Exception] = {}
        found: list[Finding] = []
        idle = {rule for rule in self.registry.file_rules if not rule.concerns(module)}
        for node, name in module.references():
            for rule in self._dispatch(name):
                if rule not in idle and rule.code not in failed and (rule.code, module.path) not in banned:
                    try:
                        found += [Finding(diagnostic, rule.code) for diagnostic in list(rule.check(node, name, module))]
                    except Exception as error:
                        failed[rule.code] = error
        for rule in self.registry.file_rules:
            if rule.code not in failed and (rule.code, module.path) not in banned:
                try:
                    found += [Finding(diagnostic, rule.code) for diagnostic in list(rule.check_module(module))]
                except Exception as error:
                    failed[rule.code] = error
        for code, failure in failed.items():
            findings.problems.append(_crash(module.path, code, failure))
            findings.crashed.add((code, module.path))
        # Half of what a rule meant to say may be worse than nothing.
        found = [finding for finding in found if finding.rule not in failed]
        self._cache[module.path] = (module, found)
        return found

    def _fixes(self, module: Module, modules: Mapping[str, Module], banned: set[tuple[str, str]]) -> list[Fix]:
        """The fixes that the file rules have for a draft of a module."""
        known = self._cache.get(module.path)
        module.component = modules
        found = self._check_file(module, Findings(), banned)
        if known is not None:
            self._cache[module.path] = known
        return self._applicable_fixes(finding for finding in found if self._wanted(finding, modules, banned))

    def _dispatch(self, name: str) -> tuple[Rule, ...]:
        rules = self._rules_for.get(name)
        if rules is None:
            exact = self._exact.get(name, [])
            wild = [rule for prefix, rule in self._prefixes if name.startswith(prefix) and rule not in exact]
            rules = self._rules_for[name] = tuple(dict.fromkeys((*exact, *wild)))
        return rules

    # -- program rules ------------------------------------------------------------------------------------------------

    def _check_program(
        self,
        rule: ProgramRule,
        editable: Iterable[Module],
        modules: Mapping[str, Module],
        findings: Findings,
        banned: set[tuple[str, str]],
    ) -> None:
        from migrator.resolve.project import Project  # only where there is something to look at

        paths = [module.path for module in editable]
        project = Project(modules, lambda module: self._fixes(module, modules, banned), paths)
        found: list[Finding] = []
        units: list[tuple[str, ProgramUnit]] = []
        results: Iterator[Union[Diagnostic, ProgramUnit]]
        try:
            results = rule.check_program(project, self.settings)
            for result in results:
                if isinstance(result, ProgramUnit):
                    units.append((rule.code, result))
                else:
                    found.append(Finding(result, rule.code, program=True))
        except Exception as error:
            path = min(modules, default="")
            findings.problems.append(_crash(path, rule.code, error))
            findings.crashed.add((rule.code, ANYWHERE))
            return
        findings.found += [finding for finding in found if self._wanted(finding, modules, banned)]
        findings.units += units


def _crash(path: str, code: str, error: Exception) -> Diagnostic:
    if isinstance(error, (RecursionError, MemoryError)):
        return deep_problem(path, code)
    return internal_problem(path, code, error)

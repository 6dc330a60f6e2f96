"""Tests of functions that build graphs: no program imports them, and what they test may become layers."""

from __future__ import annotations

import os
from collections.abc import Iterator

from migrator.engine.rule import ProgramRule
from migrator.resolve.module import Module
from migrator.resolve.project import Project
from migrator.vocabulary.diagnostics import Diagnostic, ProgramUnit, Severity

from ..bridge.reached import reached
from .groups import program_groups
from .shared_programs import Results

_TEST_CASES = frozenset({"tensorflow.test.TestCase", "tensorflow.compat.v1.test.TestCase"})


class GraphTests:
    """The tests among the files of a component. `project` is the component without them, which programs are looked at in."""

    def __init__(self, project: Project) -> None:
        tests = {path for path, module in project.modules.items() if _is_test(module)}
        if tests:
            programs = [module for group in program_groups(project) for module in group]
            tests -= {module.path for module in reached(project, programs, False)}
        self.found = [project.modules[path] for path in sorted(tests)]
        others = {path: module for path, module in project.modules.items() if path not in tests}
        self.project = Project(others, project.fixes, project.editable - tests) if tests else project
        self._whole = project

    def broken(self, rule: ProgramRule, results: Results) -> Iterator[Diagnostic]:
        """Names the tests of each file whose graph code these results make layers of."""
        units = [found for found in results if isinstance(found, ProgramUnit)]
        changed: set[str] = set()
        for fix in (found.fix for found in results if isinstance(found, Diagnostic) and found.fix is not None):
            paths = {edit.path for edit in fix.edits}
            if all(unit.tier == "native" for unit in units if unit.location.path in paths):
                changed |= paths
        tests: dict[str, list[str]] = {}
        for module in self.found:
            for path in sorted({other.path for _, other in self._whole.imported(module)} & changed):
                tests.setdefault(path, []).append(os.path.basename(module.path))
        for path, names in tests.items():
            tested = self.project.modules[path]
            text = f"{' and '.join(names)} built graphs with what becomes layers here: to be written anew, or deleted"
            yield Diagnostic(rule.code, text, tested.located(1, 1), None, Severity.INFO, rule.name, rule.url)


def _is_test(module: Module) -> bool:
    """Whether a file tests TensorFlow code and has nothing to do with Estimators."""
    if b"TestCase" not in module.source or b"stimator" in module.source:
        return False
    return any(name in _TEST_CASES for _, name in module.references())

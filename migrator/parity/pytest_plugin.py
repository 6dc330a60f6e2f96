"""A pytest plugin: with ``pytest --parity``, each case of a ``parity.toml``, or of a file of options, is a test.

Light until then: it is loaded in every pytest of an environment that has `migrate`.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from migrator.parity.judge.case import Case


class NotEqual(Exception):
    """The programs differ, or could not be run; the text is the report."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option."""
    parser.getgroup("migrate").addoption(
        "--parity", action="store_true", help="train the programs of each parity.toml before and after, and compare"
    )


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Take every ``parity.toml``, and every file of options that lists cases, if asked to."""
    if file_path.suffix != ".toml" or not parent.config.getoption("--parity") or not _lists_cases(file_path):
        return None
    file: pytest.Collector = ParityFile.from_parent(parent, path=file_path)
    return file


def _lists_cases(path: Path) -> bool:
    from migrator.parity.judge.case import CaseError
    from migrator.parity.judge.casefile import PLACES, holds_cases

    if path.name not in PLACES:
        return path.name == "parity.toml"
    try:
        return holds_cases(path)
    except CaseError:  # of somebody else, who will say so
        return False


class ParityFile(pytest.File):
    """One file of cases."""

    def collect(self) -> Iterator[pytest.Item]:
        """A test for each case. Raises CollectError where the file cannot be read."""
        from migrator.parity.judge.case import Case, CaseError, Program
        from migrator.parity.judge.casefile import load_cases

        try:
            cases = load_cases(self.path, Case("", Program(self.path)))
        except CaseError as error:
            raise self.CollectError(str(error)) from error
        for case in cases:
            yield ParityItem.from_parent(self, name=case.name.rsplit("/", 1)[-1], case=case)


class ParityItem(pytest.Item):
    """One case: fails where the programs differ, and where they could not be run."""

    def __init__(self, *, case: Case, **options: Any) -> None:
        super().__init__(**options)
        self.case = case

    def runtest(self) -> None:
        """Train both, and compare. Raises NotEqual."""
        from migrator.parity.judge.report import EQUAL
        from migrator.parity.run import runner
        from migrator.parity.run.progress import Progress
        from migrator.parity.terminal import show

        report = runner.run_case(self.case, Progress(quiet=True))
        text = io.StringIO()
        show([report], text)
        if report.verdict != EQUAL:
            raise NotEqual(text.getvalue())
        self.add_report_section("call", "parity", text.getvalue())

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """The report instead of a traceback."""
        if isinstance(excinfo.value, NotEqual):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, None, str]:
        """Where the case stands."""
        return self.path, None, f"parity: {self.name}"

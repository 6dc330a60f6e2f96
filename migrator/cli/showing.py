"""How and where ``migrate PATH...`` shows its report."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from migrator.cli.terminal import fail, print_styled
from migrator.discover.discovery import within
from migrator.report import closing, text
from migrator.report.text import Line
from migrator.vocabulary.diagnostics import Outcome

if TYPE_CHECKING:
    from migrator.parity.judge.report import CaseReport


@dataclass(frozen=True)
class Shown:
    """How and where the report is shown."""

    form: str
    output: str | None
    verbosity: int
    assess: bool = False
    committed: bool = False
    """Whether what was written is in git."""
    parity: str | None = None
    """A file that `migrate parity --json` wrote."""
    undoable: bool = True
    """Whether --undo can take back what was written."""

    def show(self, outcomes: list[Outcome], written: list[str] | None) -> None:
        """Print the report, or write it to the file asked for and print its last line on standard error."""
        if self.form == "text":
            lines = self._lines(outcomes, written)
            if self.output is None:
                print_styled(lines, sys.stdout)
                return
            content = "".join(line.text + "\n" for line in lines).encode("utf-8", "backslashreplace")
        elif self.assess:
            from migrator.report import assessment

            content = assessment.render(self.form, outcomes).encode()
        else:
            from migrator.report.formats import render

            content = render(self.form, outcomes, written, self.compared())
        if self.output is None:
            sys.stdout.flush()
            sys.stdout.buffer.write(content)
            sys.stdout.buffer.flush()
            return
        try:
            with open(self.output, "wb") as file:
                file.write(content)
        except OSError as error:
            fail(f"cannot write {self.output}: {error.strerror}")
        click.echo(f"{text.summary(outcomes, written)} Report: {self.output}", err=True)

    def compared(self, paths: Sequence[str] = ()) -> Sequence[CaseReport]:
        """The comparisons to show in the report; with `paths`, an error where none is of a program there."""
        if self.parity is None:
            return ()
        from migrator.parity.formats import from_json

        try:
            with open(self.parity, encoding="utf-8") as file:
                reports = from_json(file.read())
        except OSError as error:
            fail(f"cannot read {self.parity}: {error.strerror}")
        except ValueError as error:
            fail(f"cannot read {self.parity}: {error}; `migrate parity PROGRAM --json FILE` writes one")
        programs = [side.program for report in reports for side in (report.old, report.new)]
        if paths and not any(_about(program, path) for program in programs for path in paths):
            fail(f"{self.parity} is about {programs[0] if programs else 'no program'}, not about {', '.join(paths)}")
        return reports

    def _lines(self, outcomes: list[Outcome], written: list[str] | None) -> Iterable[Line]:
        if self.assess:
            from migrator.report import assessment

            return assessment.lines(outcomes)
        return closing.report(outcomes, self.verbosity, written, self.committed, self.undoable)


def _about(program: str, path: str) -> bool:
    """Whether a program that was compared, perhaps on another machine, is one of those at `path`."""
    one, other = os.path.realpath(program), os.path.realpath(path)
    if os.path.exists(one):
        return within(one, [other]) or within(other, [one])
    return os.path.isdir(other) or os.path.basename(one) == os.path.basename(other)

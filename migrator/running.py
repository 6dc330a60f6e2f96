"""What ``migrate PATH...`` does with its options: run, review, write, take back, and show the report."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import click

from migrator import runner
from migrator.diagnostics import Outcome
from migrator.reporting import closing, text
from migrator.reporting.moved import placed_in_result
from migrator.reporting.text import Line
from migrator.runner import Result
from migrator.settings import Settings
from migrator.suggesting import suggestion
from migrator.terminal import EXIT_DONE, EXIT_LEFT, fail, print_styled, progress


def run_paths(paths: Sequence[str], settings: Settings, shown: Shown, allow_dirty: bool) -> int:
    """Migrate files and directories; returns the exit status."""
    missing = [path for path in paths if not os.path.exists(path)]
    if missing:
        fail(f"no such file or directory: {', '.join(missing)}{suggestion(missing[0])}")
    result = _guarded(lambda: runner.migrate(paths, settings, progress()))
    written: list[str] | None = None
    outcomes = list(result.outcomes)
    if settings.apply:
        from migrator.writing import write_groups

        if not allow_dirty:
            _refuse_dirty(result)
        _journal(result)
        written, problems = write_groups(outcomes, result.groups, result.roots)
        outcomes = [runner.with_problems(outcome, problems) for outcome in placed_in_result(outcomes, written)]
    shown.show(outcomes, written)
    if shown.assess:
        return EXIT_DONE
    return runner.exit_code(outcomes, pending=not settings.apply)


def run_stdin(name: str, settings: Settings, shown: Shown) -> int:
    """Migrate standard input to standard output; returns the exit status."""
    raw = sys.stdin.buffer.read()
    outcomes = list(_guarded(lambda: runner.migrate_text(name, raw, settings)).outcomes)
    if not settings.apply:
        shown.show(outcomes, None)
        return runner.exit_code(outcomes, pending=True)
    sys.stdout.flush()
    sys.stdout.buffer.write(outcomes[0].after)
    sys.stdout.buffer.flush()
    extra = [outcome.path for outcome in outcomes[1:]]
    if extra:
        click.echo(f"migrate: the program also needs {', '.join(extra)}: migrate the file itself to get it", err=True)
    lines = closing.findings(placed_in_result(outcomes, [name]), shown.verbosity)
    print_styled(lines, sys.stderr)
    return max(runner.exit_code(outcomes, pending=False), EXIT_LEFT if extra else EXIT_DONE)


@dataclass(frozen=True)
class Shown:
    """How and where the report is shown."""

    form: str
    output: str | None
    verbosity: int
    assess: bool = False

    def show(self, outcomes: list[Outcome], written: list[str] | None) -> None:
        """Print the report, or write it to the file asked for and print its last line on standard error."""
        if self.form == "text":
            lines = self._lines(outcomes, written)
            if self.output is None:
                print_styled(lines, sys.stdout)
                return
            content = "".join(line.text + "\n" for line in lines).encode("utf-8", "backslashreplace")
        elif self.assess:
            from migrator.reporting import assessment

            content = assessment.to_json(outcomes).encode()
        else:
            from migrator.reporting.formats import render

            content = render(self.form, outcomes, written)
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

    def _lines(self, outcomes: list[Outcome], written: list[str] | None) -> Iterable[Line]:
        if self.assess:
            from migrator.reporting import assessment

            return assessment.lines(outcomes)
        return closing.report(outcomes, self.verbosity, written, brief=self.output is None and sys.stdout.isatty())


def interactive() -> bool:
    """Whether there is somebody to ask."""
    return sys.stdin.isatty() and sys.stdout.isatty()


def review_paths(paths: Sequence[str], settings: Settings) -> Settings:
    """Ask about each change; the settings that make those accepted. Leaves the program where the user quits."""
    from migrator import review
    from migrator.reporting.review_text import question

    questions = review.items(_guarded(lambda: runner.migrate(paths, settings, progress())))
    answers = {key: yes for key, yes in review.remembered().items() if key in {item.key for item in questions}}

    def show(item: review.Item, number: int) -> None:
        print_styled(question(item, number, len(questions)), sys.stdout)

    def read() -> str:
        while True:
            click.echo("Make this change? [y,n,a,A,d,b,q,?] ", nl=False)
            line = sys.stdin.readline()
            if not line:
                raise EOFError
            if line.strip() in tuple("ynaAdbq"):
                return line
            click.echo(review.HELP)

    try:
        complete = review.ask(questions, answers, show, read)
    finally:
        review.remember(answers)
    if not complete:
        click.echo("\nNothing written. The next --review from this folder goes on here.")
        sys.exit(EXIT_LEFT)
    files, places = review.declined(questions, answers)
    return settings.merged(apply=True, declined_files=files, declined=places)


def forget_review() -> None:
    """Start the next review from the beginning."""
    from migrator import review

    review.remember({})


def _journal(result: Result) -> None:
    from migrator import journal

    try:
        journal.save(result.outcomes)
    except journal.JournalError as error:
        click.echo(f"migrate: {error}", err=True)


def undo(folder: str | None) -> int:
    """Take back the last run from `folder`, by default the current one; returns the exit status."""
    from migrator import journal

    try:
        restored, problems = journal.undo(folder)
    except journal.JournalError as error:
        fail(str(error))
    for path in restored:
        click.echo(f"restored {path}")
    for item in problems:
        click.echo(str(item), err=True)
    if problems:
        click.echo(f"The originals of these files are kept in {journal.place(folder)}, in base64.", err=True)
    return EXIT_LEFT if problems else EXIT_DONE


def _guarded(call: Callable[[], Result]) -> Result:
    from migrator.registry import RegistryError

    try:
        return call()
    except RegistryError as error:
        fail(str(error))


def _refuse_dirty(result: Result) -> None:
    from migrator.discovery import dirty_files

    dirty = dirty_files(outcome.path for outcome in result.outcomes if outcome.status == "changed")
    if dirty:
        listed = "\n".join(f"  {path}" for path in dirty)
        fail(
            f"git has no copy of these files as they are:\n{listed}\nCommit them, or use --allow-dirty. Nothing written."
        )

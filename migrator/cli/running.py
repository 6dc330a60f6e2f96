"""What ``migrate PATH...`` does with its options: run, review, write, take back, and show the report."""

from __future__ import annotations

import contextlib
import io
import os
import shlex
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import click

from migrator.cli.suggesting import suggestion, unreachable
from migrator.cli.terminal import EXIT_DONE, EXIT_INTERRUPTED, EXIT_LEFT, colours, fail, print_styled, progress
from migrator.discover.discovery import within
from migrator.engine import runner
from migrator.engine.runner import Result
from migrator.report import closing, text
from migrator.report.moved import placed_in_original, placed_in_result, unwritten_stay
from migrator.report.text import Line
from migrator.vocabulary.diagnostics import Diagnostic, Outcome
from migrator.vocabulary.settings import Settings

if TYPE_CHECKING:
    from migrator.parity.judge.report import CaseReport


@dataclass(frozen=True)
class Writing:
    """How changes are written."""

    allow_dirty: bool = False
    commit_per_rule: bool = False
    edits: Callable[[str], Sequence[tuple[str, str]]] = lambda path: ()
    """What a review made of the changes in a file: pairs of proposed and wanted text."""


def run_paths(paths: Sequence[str], settings: Settings, shown: Shown, writing: Writing) -> int:
    """Migrate files and directories; returns the exit status."""
    missing = [path for path in paths if not os.path.exists(path)]
    if missing:
        fail(unreachable(missing[0]) or f"no such file or directory: {', '.join(missing)}{suggestion(missing[0])}")

    with contextlib.ExitStack() as stack:
        if settings.apply:
            from migrator.write import journal

            try:
                stack.enter_context(journal.alone())
            except journal.JournalError as error:
                fail(f"{error}. Nothing written.")
        return _run_paths(paths, settings, shown, writing)


def _run_paths(paths: Sequence[str], settings: Settings, shown: Shown, writing: Writing) -> int:
    refused: dict[str, str] = {}

    def migrate(chosen: Settings) -> Result:
        found = _guarded(lambda: runner.migrate(paths, chosen, progress()))
        return found.without(refused) if refused else found

    result = migrate(settings)
    if settings.apply:
        from migrator.write.writing import refusals

        refused.update(refusals(result.outcomes, result.roots))
        result, problems, causes = _writable(result, refused)
        result = _edited(result, writing)
        if not writing.allow_dirty or writing.commit_per_rule:
            _refuse_dirty(result)
        journal = _Journal(writing.allow_dirty)
        with journal.interrupts_told():
            written, more = _write(result, settings, writing, migrate, journal)
            problems += more
            shown = replace(shown, undoable=journal.kept)
            placed = placed_in_result(unwritten_stay(result.outcomes, written, causes), written)
            result = replace(result, outcomes=tuple(runner.with_problems(outcome, problems) for outcome in placed))
            shown.show(list(result.outcomes), written)
    else:
        shown.show(placed_in_original(result.outcomes), None)
    if shown.assess:
        return EXIT_DONE
    return runner.exit_code(result.outcomes, pending=not settings.apply)


def _writable(result: Result, refused: Mapping[str, str]) -> tuple[Result, list[Diagnostic], dict[str, str]]:
    """The result without the programs of which a file is `refused`, a problem for each such file, and by which of them
    others are not written."""
    from migrator.write.writing import unwritten_problem

    rest = result.without(refused) if refused else result
    kept = {path for group in rest.groups for path in group}
    problems, causes = [], {}
    for path, reason in refused.items():
        others = {other for program in result.programs if path in program for other in program} - kept - {path}
        problems.append(unwritten_problem(path, reason, sorted(others)))
        causes.update(dict.fromkeys(others - set(refused), path))
    return rest, problems, causes


def _edited(result: Result, writing: Writing) -> Result:
    from migrator.cli.editing import EditError, with_edits

    try:
        outcomes = [
            with_edits(outcome, edits) if edits else outcome
            for outcome in result.outcomes
            for edits in [writing.edits(outcome.path)]
        ]
    except EditError as error:
        fail(f"{error}. Nothing written.")
    return replace(result, outcomes=tuple(outcomes))


def _write(
    result: Result, settings: Settings, writing: Writing, migrate: Callable[[Settings], Result], journal: _Journal
) -> tuple[list[str], list[Diagnostic]]:
    from migrator.write.writing import write_groups

    if not writing.commit_per_rule:
        with journal.noted(result) as noted:
            return write_groups(result.outcomes, result.groups, result.roots, noted)
    from migrator.cli import commits

    pending = result.pending
    left = {outcome.path for outcome in result.outcomes if outcome.status in ("changed", "created")}
    left -= {outcome.path for outcome in pending}

    def kept(found: Result) -> list[Outcome]:
        return [outcome for outcome in found.outcomes if outcome.path not in left]

    problems: list[Diagnostic] = []
    try:
        top = commits.repository(pending) if pending else ""
        steps = list(commits.steps(kept(result), settings, lambda chosen: kept(migrate(chosen))))
        with journal.noted(result, [outcome for step in steps for outcome in step.outcomes]) as noted:
            for step in steps:
                group = [outcome.path for outcome in step.outcomes]
                _, problems = write_groups(step.outcomes, [group], result.roots, noted)
                if problems:
                    break
                commits.commit(top, step)
    except commits.CommitError as error:
        fail(str(error))
    return sorted(noted), problems


def run_stdin(name: str, settings: Settings, shown: Shown) -> int:
    """Migrate standard input to standard output; returns the exit status."""
    raw = sys.stdin.buffer.read()
    outcomes = list(_guarded(lambda: runner.migrate_text(name, raw, settings)).outcomes)
    if not settings.apply:
        shown.show(placed_in_original(outcomes), None)
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


def require_fissix() -> None:
    """Say how to get what --from-python2 needs, where it is missing."""
    from migrator.python2.converting import MISSING, available

    if not available():
        fail(MISSING)


def interactive() -> bool:
    """Whether there is somebody to ask."""
    return sys.stdin.isatty() and sys.stdout.isatty()


def review_paths(paths: Sequence[str], settings: Settings, writing: Writing) -> tuple[Settings, Writing]:
    """Ask about each change; what makes those accepted. Leaves the program where the user quits."""
    from migrator.cli import review
    from migrator.report.review_text import question
    from migrator.report.text import diff_lines, harmless, print_lines

    questions = review.items(_guarded(lambda: runner.migrate(paths, settings, progress())))
    answers = review.remembered(questions)

    def show(item: review.Item, number: int, total: int) -> None:
        print_styled(question(item, number, total, shutil.get_terminal_size().lines), sys.stdout)

    def view(item: review.Item) -> None:
        text = io.StringIO()
        coloured = colours(sys.stdout)
        print_lines((line._replace(text=harmless(line.text)) for line in diff_lines(item.diff)), text, coloured)
        click.echo_via_pager(text.getvalue(), color=coloured)

    def read() -> str:
        while True:
            click.echo("Make this change? [y,n,a,A,d,e,s,v,b,q,?] ", nl=False)
            line = sys.stdin.readline()
            if not line:
                raise EOFError
            if line.strip() in tuple("ynaAdesvbq"):
                return line
            click.echo(review.HELP)

    try:
        complete = review.ask(questions, answers, show, read, click.echo, view)
    finally:
        kept = review.remember(answers)
    if not complete:
        answered = "The next --review from this folder goes on here." if kept else "The answers could not be kept."
        click.echo(f"\nNothing written. {answered}")
        sys.exit(EXIT_LEFT)
    files, places = review.declined(questions, answers)
    settings = settings.merged(apply=True, declined_files=files, declined=places)
    return settings, replace(writing, edits=answers.edits_of)


def forget_review() -> None:
    """Start the next review from the beginning."""
    from migrator.cli import review

    review.remember(review.Answers())


class _Journal:
    """What --undo reads; without it a run goes on only where git can bring everything back."""

    def __init__(self, allow_dirty: bool) -> None:
        self.kept = True
        self._allow_dirty = allow_dirty
        self._written: set[str] = set()

    @contextlib.contextmanager
    def noted(self, result: Result, steps: Sequence[Outcome] = ()) -> Iterator[set[str]]:
        """What `journal.noted` does."""
        from migrator.write import journal

        with contextlib.ExitStack() as stack:
            try:
                noted = stack.enter_context(journal.noted(result.outcomes, result.groups, steps))
            except journal.JournalError as error:
                self._without(str(error), result)
                noted = set()
            self._written = noted
            yield noted

    @contextlib.contextmanager
    def interrupts_told(self) -> Iterator[None]:
        """Ctrl-C ends the process with the names of the files that were written before it."""
        try:
            yield
        except KeyboardInterrupt:
            if not self._written:
                raise
            listed = "\n".join(f"  {path}" for path in sorted(self._written))
            back = "\n`migrate --undo`, from this folder, takes it back." if self.kept else ""
            click.echo(f"\nInterrupted. These files were written, each as a whole:\n{listed}{back}", err=True)
            sys.exit(EXIT_INTERRUPTED)

    def _without(self, reason: str, result: Result) -> None:
        from migrator.discover.discovery import without_copy

        lost = without_copy(outcome.path for outcome in result.pending if outcome.status == "changed")
        if lost and not self._allow_dirty:
            listed = "\n".join(f"  {path}" for path in lost)
            fail(
                f"{reason}. --undo could not take this run back, and git has no copy of these files:\n{listed}\n"
                "Let the journal be written, or use --allow-dirty. Nothing written."
            )
        click.echo(f"migrate: {reason}; --undo cannot take this run back", err=True)
        self.kept = False


def undo(folder: str | None, force: bool = False) -> int:
    """Take back the last run from `folder`, by default the current one; returns the exit status.

    With `force`, also in files that were edited since.
    """
    from migrator.write import journal

    try:
        with journal.alone(folder):
            restored, problems = journal.undo(folder, force)
    except journal.JournalError as error:
        fail(str(error))
    except KeyboardInterrupt:
        click.echo(
            "\nInterrupted. Once more, --undo goes on: each file is as it was before the --apply or after it.", err=True
        )
        sys.exit(EXIT_INTERRUPTED)
    for line in restored:
        click.echo(line)
    for item in problems:
        click.echo(str(item), err=True)
    if problems:
        again = shlex.join(["migrate", "--undo", *([folder] if folder else []), "--force"])
        click.echo(
            f"A file that you move away is restored by the next --undo; `{again}` overwrites them all.", err=True
        )
    return EXIT_LEFT if problems else EXIT_DONE


def _guarded(call: Callable[[], Result]) -> Result:
    from migrator.engine.registry import RegistryError

    try:
        return call()
    except RegistryError as error:
        fail(str(error))


def _refuse_dirty(result: Result) -> None:
    from migrator.discover.discovery import dirty_files

    dirty = dirty_files(outcome.path for outcome in result.pending if outcome.status == "changed")
    if dirty:
        listed = "\n".join(f"  {path}" for path in dirty)
        fail(
            f"git has no copy of these files as they are:\n{listed}\nCommit them, or use --allow-dirty. Nothing written."
        )

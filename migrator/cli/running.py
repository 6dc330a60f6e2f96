"""What ``migrate PATH...`` does with its options: run, review, write, take back, and show the report."""

from __future__ import annotations

import contextlib
import io
import os
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import click

from migrator.cli.showing import Shown
from migrator.cli.suggesting import suggestion, unreachable
from migrator.cli.terminal import EXIT_DONE, EXIT_LEFT, colours, fail, print_styled, progress
from migrator.cli.undoing import Journal
from migrator.engine import runner
from migrator.engine.runner import Result
from migrator.report import closing
from migrator.report.moved import placed_in_original, placed_in_result, unwritten_stay
from migrator.vocabulary.diagnostics import Diagnostic, Outcome
from migrator.vocabulary.settings import Settings


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
        journal = Journal(writing.allow_dirty)
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
    result: Result, settings: Settings, writing: Writing, migrate: Callable[[Settings], Result], journal: Journal
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

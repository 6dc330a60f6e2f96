"""What ``migrate --undo`` reads and takes back."""

from __future__ import annotations

import contextlib
import shlex
import sys
from collections.abc import Iterator, Sequence

import click

from migrator.cli.terminal import EXIT_DONE, EXIT_INTERRUPTED, EXIT_LEFT, fail
from migrator.engine.runner import Result
from migrator.vocabulary.diagnostics import Outcome


class Journal:
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

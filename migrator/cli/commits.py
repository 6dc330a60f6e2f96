"""One commit for each rule: the states between the rules, and handing each to git.

Each state is a migration of its own with the first so many rules selected, so that none is a half-made one.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from migrator.cli.interrupts import put_off
from migrator.discover.discovery import dirty_files, git
from migrator.engine.registry import load
from migrator.vocabulary.diagnostics import Outcome
from migrator.vocabulary.settings import Settings


class CommitError(Exception):
    """Nothing can be committed; the message says why."""


@dataclass(frozen=True)
class Step:
    """What one commit holds: the files as they were before it, and as they are after it."""

    message: str
    outcomes: tuple[Outcome, ...]


def repository(outcomes: Iterable[Outcome]) -> str:
    """The work tree that holds all files to be written. Raises CommitError."""
    folders = {os.path.dirname(os.path.realpath(o.path)) for o in outcomes if o.status in ("changed", "created")}
    tops = {git(folder, "rev-parse", "--show-toplevel") for folder in folders}
    if len(tops) != 1 or None in tops:
        raise CommitError("--commit-per-rule needs all files that change in one git repository")
    return os.fsdecode((tops.pop() or b"").rstrip(b"\n"))


def steps(
    final: Sequence[Outcome], settings: Settings, migrate: Callable[[Settings], Sequence[Outcome]]
) -> Iterable[Step]:
    """The commits that lead to `final`, in the order of the codes.

    Args:
      final: what is to be written in the end.
      settings: those that it was made with.
      migrate: makes the outcomes of other settings, from the same originals.
    """
    counts: dict[str, int] = {}
    for outcome in final:
        for item in outcome.applied:
            counts[item.code] = counts.get(item.code, 0) + 1
    codes = sorted(counts)
    texts = {o.path: o.before for o in final if o.status != "created"}
    for number, code in enumerate(codes, 1):
        last = number == len(codes)
        outcomes = final if last else migrate(settings.merged(select=tuple(codes[:number])))
        changed = tuple(_since(outcomes, texts))
        texts.update({outcome.path: outcome.after for outcome in changed})
        if changed:
            yield Step(_message(code, counts[code]), changed)


def _since(outcomes: Iterable[Outcome], texts: Mapping[str, bytes]) -> Iterable[Outcome]:
    """What changes from `texts` on; a file that no longer changes goes back to what it was."""
    for outcome in outcomes:
        if outcome.path not in texts:
            yield Outcome(outcome.path, "created", b"", outcome.after)
        elif outcome.after != texts[outcome.path] and outcome.status != "failed":
            after = outcome.before if outcome.status == "unchanged" else outcome.after
            if after != texts[outcome.path]:
                yield Outcome(outcome.path, "changed", texts[outcome.path], after)


def _message(code: str, count: int) -> str:
    rule = load().find(code)
    title = rule.summary().rstrip(".") if rule is not None else "Migrate to Keras"
    return f"{title} ({code})\n\n{count} change{'s' * (count != 1)} by `migrate`."


def commit(top: str, step: Step) -> None:
    """Commit the files of a step, and nothing else that may be staged. Raises CommitError.

    Ctrl-C, which git gets as well, comes once git has ended and nothing is left staged.
    """
    with put_off():
        _commit(top, step)


def _commit(top: str, step: Step) -> None:
    paths = [os.path.realpath(outcome.path) for outcome in step.outcomes]
    if not dirty_files(paths):
        return
    for arguments in (("add", "--"), ("commit", "--quiet", "--message", step.message, "--only", "--")):
        done = subprocess.run(["git", *arguments, *paths], cwd=top, capture_output=True, text=True, check=False)
        if done.returncode:
            reason = (done.stderr or done.stdout).strip()
            git(top, "reset", "--quiet", "--", *paths)  # they were as in the last commit
            raise CommitError(
                f"git {arguments[0]} failed:\n{reason}\nWhat this step wrote is not committed; `migrate --undo` takes it back."
            )

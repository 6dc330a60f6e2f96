"""What each ``--apply`` from a folder replaced, so that ``--undo`` can put it back, the newest first.

The journal is written before the first file is, into the user's state folder; it holds source code, so only the user may read it.
Each folder has its own: from another one, `nearby` tells where a run that wrote there was started.
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import json
import os
import shlex
import stat
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from migrator.discover.discovery import within
from migrator.vendor.vendoring import is_vendored
from migrator.vocabulary.diagnostics import Diagnostic, Outcome
from migrator.vocabulary.problems import UNREADABLE, problem
from migrator.write.writing import discard_leftovers, write_groups

VERSION = 3
_ONE_RUN = 2
"""The version that knew the last run only."""


class JournalError(Exception):
    """There is nothing to undo, or the journal cannot be written or read; the message says why."""


def place(folder: str | None = None) -> Path:
    """The journal of runs from `folder`, by default the current one. Raises JournalError where the user has no state folder."""
    state = os.environ.get("XDG_STATE_HOME", "")
    if not os.path.isabs(state):
        state = os.path.join(os.path.expanduser("~"), ".local", "state")
    if not os.path.isabs(state):  # a user without a home, as in a container
        raise JournalError("no folder to keep a journal in: set HOME or XDG_STATE_HOME")
    name = hashlib.sha256(os.path.realpath(folder or os.curdir).encode("utf-8", "surrogateescape")).hexdigest()[:24]
    return Path(state) / "migrate" / f"{name}.json"


@contextlib.contextmanager
def noted(
    outcomes: Iterable[Outcome], groups: Iterable[Iterable[str]], steps: Iterable[Outcome] = ()
) -> Iterator[set[str]]:
    """Note what is about to be written, besides earlier runs; it is forgotten where nothing is.

    Raises JournalError where it cannot be noted, before anything is written.

    Args:
      outcomes: what is to be written; those unchanged or failed are left out.
      groups: paths that are written together or not at all.
      steps: what is written on the way to that, and stays where something ends the run.

    Yields:
      A set to fill with the paths that were written.
    """
    target = place()
    entries = _entries(outcomes, groups, steps)
    older = _older(target) if entries else None
    run: dict[str, Any] = {"when": time.time(), "files": entries}
    earlier = _earlier(target, older) if entries else []
    if entries:
        _write(target, _text(os.path.realpath(os.curdir), [*earlier, run]))
    written: set[str] = set()
    complete = False
    try:
        yield written
        complete = True
    finally:
        # Ctrl-C is let through after files were renamed, before anybody could say which.
        if entries and not written and (complete or all(_content(e["path"]) == _before(e) for e in entries)):
            with contextlib.suppress(OSError, JournalError):
                target.unlink() if older is None else _write(target, older)
        elif complete and len(places := set(map(os.path.abspath, written))) < len(entries):
            # Of a file that was refused, as it had changed meanwhile, the journal holds what --undo --force must not put back.
            run["files"] = [entry for entry in entries if entry["path"] in places]
            with contextlib.suppress(OSError, JournalError):
                _write(target, _text(os.path.realpath(os.curdir), [*earlier, run]))


def _entries(
    outcomes: Iterable[Outcome], groups: Iterable[Iterable[str]], steps: Iterable[Outcome]
) -> list[dict[str, Any]]:
    on_the_way: dict[str, list[str]] = {}
    for step in steps:
        on_the_way.setdefault(step.path, []).append(hashlib.sha256(step.after).hexdigest())
    number = {path: index for index, group in enumerate(groups) for path in group}
    return [
        {
            "path": os.path.abspath(outcome.path),
            "before": None if outcome.status == "created" else base64.b64encode(outcome.before).decode(),
            "after": hashlib.sha256(outcome.after).hexdigest(),
            "steps": on_the_way.get(outcome.path, []),
            "mode": None if outcome.status == "created" else _mode(outcome.path),
            "group": number.get(outcome.path, -1),
            "helper": outcome.status == "created" or is_vendored(outcome.after),
        }
        for outcome in outcomes
        if outcome.status in ("changed", "created")
    ]


def _mode(path: str) -> int | None:
    try:
        return stat.S_IMODE(os.stat(path).st_mode)
    except OSError:
        return None


def _text(folder: str, runs: list[dict[str, Any]]) -> str:
    return json.dumps({"version": VERSION, "folder": folder, "runs": runs})


def _earlier(target: Path, older: str | None) -> list[dict[str, Any]]:
    """The runs of the journal so far; one that cannot be read is set aside, as it may hold originals."""
    if older is None:
        return []
    try:
        return _parsed(target)[1]
    except JournalError:
        _write(target.with_suffix(".unread"), older)
        return []


def _older(target: Path) -> str | None:
    try:
        return target.read_text("utf-8")
    except (OSError, ValueError):
        return None


def _write(target: Path, text: str) -> None:
    try:
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        temporary = target.with_suffix(".tmp")
        with open(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(temporary, target)
    except OSError as error:
        raise JournalError(f"cannot write {target}: {error.strerror}") from error


@contextlib.contextmanager
def alone(folder: str | None = None) -> Iterator[None]:
    """Let no other run from `folder`, by default the current one, write meanwhile. Raises JournalError where one does."""
    try:
        import fcntl

        target = place(folder).with_suffix(".lock")
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        file = open(target, "a", encoding="utf-8")
    except (ImportError, OSError, JournalError):  # no locks here, or no place for them
        yield
        return
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise JournalError("another --apply from this folder is at work: wait until it has ended") from error
        yield


def undo(folder: str | None = None, force: bool = False) -> tuple[list[str], list[Diagnostic]]:
    """Put back what the last run from `folder`, by default the current one, replaced, file by file. Raises JournalError.

    The run before it is the last one then; where a file could not be put back, this one stays the last.
    Helpers that the run made or extended stay while a file that was written with them could not be put back.
    With `force`, files that have changed since are put back as well: what was written into them is lost.

    Returns:
      What was restored, removed or kept, which run that was and how many are left, as lines to show, and a problem for
      each file that is no longer as that run wrote it.
    """
    done: list[str] = []
    problems: list[Diagnostic] = []
    target = place(folder)
    failed: dict[int, str] = {}
    journal, runs = _read(target, folder)
    run = runs.pop()
    for entry in sorted(run["files"], key=lambda entry: bool(entry["helper"])):
        shown, group = os.path.relpath(entry["path"]), entry["group"]
        discard_leftovers(os.path.realpath(entry["path"]))
        if entry["helper"] and group in failed:
            if _content(entry["path"]) != _before(entry):
                done.append(f"kept {shown}: {failed[group]}, which was written with it, is not restored")
            continue
        before = len(problems)
        try:
            _restore(entry, shown, done, problems, force)
        except OSError as error:
            problems.append(problem(UNREADABLE, shown, f"not restored: {error.strerror}"))
        if len(problems) > before:
            failed.setdefault(group, shown)
    if problems:
        return done, problems
    try:
        if runs:
            _write(target, _text(journal, runs))
        else:
            target.unlink()
    except (OSError, JournalError) as error:
        return done, [problem(UNREADABLE, str(target), f"still holds the run that was taken back: {error}")]
    done = done or ["nothing to restore: all files are as they were before the last --apply"]
    return [*done, _summary(run, len(runs), folder)], []


def _summary(run: dict[str, Any], left: int, folder: str | None) -> str:
    when = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(run["when"]))
    if not left:
        return f"Taken back: the --apply of {when}. No earlier one is left."
    command = "migrate --undo" if folder is None else f"migrate --undo {shlex.quote(folder)}"
    return f"Taken back: the --apply of {when}. {left} earlier {'is' if left == 1 else 'are'} left (`{command}`)."


def nearby() -> list[str]:
    """Other folders above or with files in the current one from which a run wrote, the last run first."""
    here = os.path.realpath(os.curdir)
    found: list[tuple[float, str]] = []
    for journal in place().parent.glob("*.json"):
        try:
            folder, runs = _parsed(journal)
            files = [entry["path"] for run in runs for entry in run["files"]]
        except (JournalError, OSError):  # of a review, of another version, or broken
            continue
        if within(here, [folder]) or any(within(os.path.realpath(path), [here]) for path in files):
            found.append((runs[-1]["when"], folder))
    return [folder for _, folder in sorted(found, reverse=True) if folder != here]


def _before(entry: dict[str, Any]) -> bytes | None:
    return None if entry["before"] is None else base64.b64decode(entry["before"])


def _content(path: str) -> bytes | None:
    return Path(path).read_bytes() if os.path.exists(path) else None


def _restore(entry: dict[str, Any], shown: str, done: list[str], problems: list[Diagnostic], force: bool) -> None:
    path = entry["path"]
    before, now = _before(entry), _content(path)
    if now == before:  # was never written, or is restored already
        return
    if (
        not force
        and now is not None
        and hashlib.sha256(now).hexdigest() not in (entry["after"], *entry.get("steps", ()))
    ):
        problems.append(problem(UNREADABLE, shown, "not restored: it has changed since it was written"))
    elif before is None:
        os.unlink(path)
        done.append(f"removed {shown}")
    else:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        outcome = Outcome(path, "created" if now is None else "changed", now or b"", before)
        written, refused = write_groups([outcome], [[path]], [os.path.dirname(os.path.realpath(path))])
        if written and now is None and entry["mode"] is not None:
            os.chmod(path, entry["mode"])
        done += [f"restored {shown}" for _ in written]
        problems += refused


def _read(target: Path, folder: str | None) -> tuple[str, list[dict[str, Any]]]:
    try:
        return _parsed(target)
    except FileNotFoundError as error:
        where = "this folder" if folder is None else folder
        others = nearby() if folder is None else []
        hint = ""
        if others:
            hint = f"; the last one around here was run from {others[0]}: `migrate --undo {shlex.quote(others[0])}`"
        elif folder is not None and place().exists():
            hint = "; one was run from this folder: `migrate --undo`"
        text = f"nothing to undo: no --apply was run from {where}, or it was undone already{hint}"
        raise JournalError(text) from error


def _parsed(target: Path) -> tuple[str, list[dict[str, Any]]]:
    """The folder and the runs of a journal, the last one last. Raises JournalError, and FileNotFoundError."""
    try:
        content = json.loads(target.read_text("utf-8"))
        if not isinstance(content, dict) or content.get("version") not in (_ONE_RUN, VERSION):
            raise JournalError(f"{target} was written by another version of migrate")
        if content["version"] == _ONE_RUN:
            content["runs"] = [{"when": target.stat().st_mtime, "files": content["files"]}]
        runs = [
            {"when": float(run["when"]), "files": [_checked(entry) for entry in run["files"]]}
            for run in content["runs"]
        ]
        if not runs or not isinstance(content["folder"], str):
            raise ValueError("it names no run")
    except FileNotFoundError:
        raise
    except LookupError as error:
        raise JournalError(f"cannot read {target}: {error} is missing") from error
    except (OSError, ValueError, TypeError) as error:
        raise JournalError(f"cannot read {target}: {error}") from error
    return content["folder"], runs


def _checked(entry: dict[str, Any]) -> dict[str, Any]:
    """`entry`, once it is known that all is there and can be decoded: nothing is written halfway through a broken one."""
    _before(entry)
    for key in ("path", "after", "mode", "group", "helper"):
        _ = entry[key]
    return entry

"""What the last ``--apply`` from a folder replaced, so that ``--undo`` can put it back.

The journal is written before the first file is, into the user's state folder; it holds source code, so only the user may read it.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from migrator.diagnostics import Diagnostic, Outcome
from migrator.problems import UNREADABLE, problem
from migrator.writing import write_groups

VERSION = 1


class JournalError(Exception):
    """There is nothing to undo, or the journal cannot be written or read; the message says why."""


def place(folder: str | None = None) -> Path:
    """The journal of runs from `folder`, by default the current one."""
    state = os.environ.get("XDG_STATE_HOME") or os.path.join(os.path.expanduser("~"), ".local", "state")
    name = hashlib.sha256(os.path.realpath(folder or os.curdir).encode("utf-8", "surrogateescape")).hexdigest()[:24]
    return Path(state) / "migrate" / f"{name}.json"


def save(outcomes: Iterable[Outcome]) -> None:
    """Note what is about to be written; an older journal is replaced only if there is something. Raises JournalError."""
    pending = [outcome for outcome in outcomes if outcome.status in ("changed", "created")]
    if not pending:
        return
    files = [
        {
            "path": os.path.abspath(outcome.path),
            "before": None if outcome.status == "created" else base64.b64encode(outcome.before).decode(),
            "after": hashlib.sha256(outcome.after).hexdigest(),
        }
        for outcome in pending
    ]
    target = place()
    try:
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        temporary = target.with_suffix(".tmp")
        with open(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
            json.dump({"version": VERSION, "files": files}, file)
        os.replace(temporary, target)
    except OSError as error:
        raise JournalError(f"cannot write {target}: {error.strerror}; this run cannot be undone") from error


def undo() -> tuple[list[str], list[Diagnostic]]:
    """Put back what the last run from this folder replaced, file by file. Raises JournalError.

    Returns:
      The paths restored or removed, and a problem for each file that is no longer as that run wrote it.
    """
    done: list[str] = []
    problems: list[Diagnostic] = []
    for entry in _read():
        shown = os.path.relpath(entry["path"])
        try:
            _restore(entry, shown, done, problems)
        except OSError as error:
            problems.append(problem(UNREADABLE, shown, f"not restored: {error.strerror}"))
    if not problems:
        place().unlink()
    return done, problems


def _restore(entry: dict[str, Any], shown: str, done: list[str], problems: list[Diagnostic]) -> None:
    path = entry["path"]
    before = None if entry["before"] is None else base64.b64decode(entry["before"])
    now = Path(path).read_bytes() if os.path.exists(path) else None
    if now == before:  # was never written, or is restored already
        return
    if now is None or hashlib.sha256(now).hexdigest() != entry["after"]:
        what = "is gone" if now is None else "has changed since it was written"
        problems.append(problem(UNREADABLE, shown, f"not restored: it {what}"))
    elif before is None:
        os.unlink(path)
        done.append(shown)
    else:
        outcome = Outcome(path, "changed", now, before)
        written, refused = write_groups([outcome], [[path]], [os.path.dirname(os.path.realpath(path))])
        done += [shown for _ in written]
        problems += refused


def _read() -> list[dict[str, Any]]:
    target = place()
    try:
        content = json.loads(target.read_text("utf-8"))
    except FileNotFoundError as error:
        raise JournalError("nothing to undo: no --apply was run from this folder, or it was undone already") from error
    except (OSError, ValueError) as error:
        raise JournalError(f"cannot read {target}: {error}") from error
    if not isinstance(content, dict) or content.get("version") != VERSION:
        raise JournalError(f"{target} was written by another version of migrate")
    files: list[dict[str, Any]] = content["files"]
    return files

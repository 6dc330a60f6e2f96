"""What the last ``--apply`` from a folder replaced, so that ``--undo`` can put it back.

The journal is written before the first file is, into the user's state folder; it holds source code, so only the user may read it.
Each folder has its own: from another one, `nearby` tells where a run that wrote there was started.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import shlex
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from migrator.diagnostics import Diagnostic, Outcome
from migrator.discovery import within
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
            json.dump({"version": VERSION, "folder": os.path.realpath(os.curdir), "files": files}, file)
        os.replace(temporary, target)
    except OSError as error:
        raise JournalError(f"cannot write {target}: {error.strerror}; this run cannot be undone") from error


def undo(folder: str | None = None) -> tuple[list[str], list[Diagnostic]]:
    """Put back what the last run from `folder`, by default the current one, replaced, file by file. Raises JournalError.

    Returns:
      What was restored or removed, as lines to show, and a problem for each file that is no longer as that run wrote it.
    """
    done: list[str] = []
    problems: list[Diagnostic] = []
    target = place(folder)
    for entry in _read(target, folder):
        shown = os.path.relpath(entry["path"])
        try:
            _restore(entry, shown, done, problems)
        except OSError as error:
            problems.append(problem(UNREADABLE, shown, f"not restored: {error.strerror}"))
    if not problems:
        target.unlink()
    return done, problems


def nearby() -> list[str]:
    """Other folders above or with files in the current one from which a run wrote, the last run first."""
    here = os.path.realpath(os.curdir)
    found: list[tuple[float, str]] = []
    for journal in place().parent.glob("*.json"):
        try:
            content = json.loads(journal.read_text("utf-8"))
            wrote_here = any(within(os.path.realpath(entry["path"]), [here]) for entry in content["files"])
            if wrote_here or within(here, [content["folder"]]):
                found.append((journal.stat().st_mtime, content["folder"]))
        except (OSError, ValueError, TypeError, LookupError):  # of a review, of another version, or broken
            continue
    return [folder for _, folder in sorted(found, reverse=True) if folder != here]


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
        done.append(f"removed {shown}")
    else:
        outcome = Outcome(path, "changed", now, before)
        written, refused = write_groups([outcome], [[path]], [os.path.dirname(os.path.realpath(path))])
        done += [f"restored {shown}" for _ in written]
        problems += refused


def _read(target: Path, folder: str | None) -> list[dict[str, Any]]:
    try:
        content = json.loads(target.read_text("utf-8"))
    except FileNotFoundError as error:
        where = "this folder" if folder is None else folder
        others = nearby() if folder is None else []
        hint = (
            f"; the last one around here was run from {others[0]}: `migrate --undo {shlex.quote(others[0])}`"
            if others
            else ""
        )
        text = f"nothing to undo: no --apply was run from {where}, or it was undone already{hint}"
        raise JournalError(text) from error
    except (OSError, ValueError) as error:
        raise JournalError(f"cannot read {target}: {error}") from error
    if not isinstance(content, dict) or content.get("version") != VERSION:
        raise JournalError(f"{target} was written by another version of migrate")
    files: list[dict[str, Any]] = content["files"]
    return files

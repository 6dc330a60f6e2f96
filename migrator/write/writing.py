"""Writes results: whole files or nothing, all files of a program or none, and only below the given paths."""

from __future__ import annotations

import contextlib
import glob
import os
import stat
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from migrator.cli.interrupts import put_off
from migrator.discover.discovery import within
from migrator.vocabulary.diagnostics import Diagnostic, Outcome
from migrator.vocabulary.problems import UNREADABLE, problem

_SUFFIX = ".migrate-tmp"


@dataclass(frozen=True)
class _Prepared:
    """New content, complete on disk beside its target."""

    outcome: Outcome
    target: str
    temporary: str


class _Refused(Exception):
    pass


def write_groups(
    outcomes: Iterable[Outcome],
    groups: Iterable[Iterable[str]],
    roots: Iterable[str],
    done: set[str] | None = None,
) -> tuple[list[str], list[Diagnostic]]:
    """Write changed and created files.

    Args:
      outcomes: what to write; those unchanged or failed are left out.
      groups: paths that are written together or not at all.
      roots: real paths of the directories below which files may be written.
      done: gets the paths as they are written, for those whom an interrupt keeps from getting them returned.

    Returns:
      The paths written, and what went wrong.
    """
    pending = {outcome.path: outcome for outcome in outcomes if outcome.status in ("changed", "created")}
    written = set() if done is None else done
    problems: list[Diagnostic] = []
    ready: list[list[_Prepared]] = []
    try:
        for group in groups:
            paths = [path for path in group if path in pending]
            prepared = _prepare(paths, pending, tuple(roots), problems)
            if prepared:
                ready.append(prepared)
        with put_off():  # a program half renamed would be worse than waiting
            while ready:
                written.update(_commit(ready.pop(0), problems))
    finally:
        for unused in ready:
            _discard(unused)
    return sorted(written), problems


def _prepare(
    paths: list[str], pending: Mapping[str, Outcome], roots: tuple[str, ...], problems: list[Diagnostic]
) -> list[_Prepared]:
    prepared: list[_Prepared] = []
    for path in paths:
        try:
            prepared.append(_temporary(pending[path], roots))
        except (_Refused, OSError) as error:
            problems.append(unwritten_problem(path, _reason(error), [other for other in paths if other != path]))
            _discard(prepared)
            return []
        except BaseException:
            _discard(prepared)
            raise
    return prepared


def refusals(outcomes: Iterable[Outcome], roots: Iterable[str]) -> dict[str, str]:
    """Why those of the changed and created files cannot be written that cannot, by path."""
    found: dict[str, str] = {}
    roots = tuple(roots)
    for outcome in outcomes:
        if outcome.status in ("changed", "created"):
            try:
                _place(outcome, roots)
            except (_Refused, OSError) as error:
                found[outcome.path] = _reason(error)
    return found


def _reason(error: Exception) -> str:
    return error.strerror or str(error) if isinstance(error, OSError) else str(error)


def unwritten_problem(path: str, reason: str, others: Sequence[str]) -> Diagnostic:
    """E004 for a file that could not be written, nor could `others` that go with it."""
    together = f"; nor {'was' if len(others) == 1 else 'were'} {', '.join(others)}" if others else ""
    return problem(UNREADABLE, path, f"not written: {reason}{together}")


def _temporary(outcome: Outcome, roots: tuple[str, ...]) -> _Prepared:
    target, mode = _place(outcome, roots)
    discard_leftovers(target)
    return _Prepared(outcome, target, _write_beside(target, outcome.after, mode))


def _place(outcome: Outcome, roots: tuple[str, ...]) -> tuple[str, int]:
    """The file to be written, links followed, and its mode. Raises _Refused and OSError."""
    target = os.path.realpath(outcome.path)
    if not within(target, roots):
        raise _Refused(f"it is a link to {target}, outside of the given paths; name that file to have it changed")
    if outcome.status == "created":
        if os.path.lexists(outcome.path):
            raise _Refused("a file of this name has appeared meanwhile")
        mask = os.umask(0)
        os.umask(mask)
        mode = 0o666 & ~mask
    else:
        found = os.stat(target)
        if not found.st_mode & (stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH) or not os.access(target, os.W_OK):
            raise _Refused("it is read-only")
        with open(target, "rb") as file:
            if file.read() != outcome.before:
                raise _Refused("it has changed meanwhile; run again")
        mode = stat.S_IMODE(found.st_mode)
    if not os.access(os.path.dirname(target), os.W_OK | os.X_OK):
        raise _Refused("its folder is read-only")
    return target, mode


def discard_leftovers(target: str) -> None:
    """Remove what runs that were killed had made ready to take the place of a file."""
    folder, name = os.path.split(target)
    for temporary in glob.glob(os.path.join(glob.escape(folder), f".{glob.escape(name[:64])}.*{_SUFFIX}")):
        with contextlib.suppress(OSError):
            os.unlink(temporary)


def _write_beside(target: str, content: bytes, mode: int) -> str:
    folder, name = os.path.split(target)
    descriptor, temporary = tempfile.mkstemp(dir=folder, prefix=f".{name[:64]}.", suffix=_SUFFIX)
    try:
        with open(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, mode)
    except BaseException:
        os.unlink(temporary)
        raise
    return temporary


def _commit(group: list[_Prepared], problems: list[Diagnostic]) -> list[str]:
    done: list[_Prepared] = []
    for item in group:
        try:
            os.replace(item.temporary, item.target)
        except OSError as error:
            _discard(group[len(done) :])
            for other in done:
                _restore(other)
            problems.append(problem(UNREADABLE, item.outcome.path, f"not written: {error.strerror}"))
            return []
        done.append(item)
    return [item.outcome.path for item in done]


def _restore(item: _Prepared) -> None:
    if item.outcome.status == "created":
        os.unlink(item.target)
    else:
        mode = stat.S_IMODE(os.stat(item.target).st_mode)
        os.replace(_write_beside(item.target, item.outcome.before, mode), item.target)


def _discard(group: Iterable[_Prepared]) -> None:
    for item in group:
        with contextlib.suppress(OSError):
            os.unlink(item.temporary)

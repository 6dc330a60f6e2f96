"""The old program as git has it: a copy of the folder, with the files of a revision in the place of those that changed since."""

from __future__ import annotations

import io
import subprocess
import tarfile
from dataclasses import replace
from pathlib import Path

from migrator.discover.discovery import run_git
from migrator.parity.judge.case import Case, CaseError
from migrator.parity.run import sandbox


def old_program(case: Case, root: Path) -> Case:
    """`case` with an old program below `root` in the state of ``case.since``; files that git ignores stay. Raises CaseError."""
    folder, target = case.old.folder.resolve(), root / "committed"
    archive = _git(folder, case.since)
    sandbox.copy_program(folder, target, skip=root)
    with tarfile.open(fileobj=io.BytesIO(archive)) as files:
        members = [member for member in files.getmembers() if member.isfile()]
        for member in members:
            place = target / member.name
            place.unlink(missing_ok=True)  # a large file is a link to the user's
            place.parent.mkdir(parents=True, exist_ok=True)
            data = files.extractfile(member)
            assert data is not None
            place.write_bytes(data.read())
    single = case.old.path.is_file()
    path = target / case.old.path.name if single else target
    if single and case.old.path.name not in {member.name for member in members}:
        raise CaseError(f"{case.old.path}: git has no such file in {case.since}")
    return replace(case, old=replace(case.old, path=path))


def _git(folder: Path, revision: str) -> bytes:
    """What git has of `folder` in `revision`, as a tar archive with paths from there on."""
    try:
        done = run_git(str(folder), "archive", "--format=tar", revision, ".")
    except OSError as error:
        raise CaseError(f"--since needs git: {error.strerror}") from error
    except subprocess.TimeoutExpired as error:
        raise CaseError(f"--since {revision}: git did not answer within {error.timeout:.0f} s") from error
    if done.returncode:
        raise CaseError(f"--since {revision}: {done.stderr.decode('utf-8', 'replace').strip()}")
    return done.stdout

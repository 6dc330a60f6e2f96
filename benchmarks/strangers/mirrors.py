"""Takes the files of a program out of a local mirror of its repository."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from fnmatch import fnmatch
from pathlib import Path

from .manifest import Program


class Missing(Exception):
    """A repository, a commit or a file is not in the mirrors."""


def _git(folder: Path, *arguments: str) -> bytes:
    done = subprocess.run(["git", "-C", str(folder), *arguments], capture_output=True, check=False)
    if done.returncode != 0:
        raise Missing(f"{folder}: git {' '.join(arguments)}: {done.stderr.decode(errors='replace').strip()}")
    return done.stdout


def directory(mirrors: Path, repository: str) -> Path:
    """Where a repository is: `owner+name`, `owner/name` or `name` in the folder of mirrors, bare or not. Raises Missing."""
    for name in (repository.replace("/", "+"), repository, repository.rpartition("/")[2]):
        for inner in ("repo/.git", "repo", ".git", ""):
            folder = mirrors / name / inner
            if (folder / "HEAD").is_file():
                return folder
    raise Missing(f"no mirror of {repository} in {mirrors}")


def rebuild(program: Program, mirrors: Path, folder: Path) -> None:
    """Write the files of a program into an empty folder. Raises Missing."""
    _take(mirrors, program.repository, program.commit, program.root, program.paths, folder)
    for other in program.beside:
        target = folder / other.get("into", "")
        _take(mirrors, other["repository"], other["commit"], other.get("root", ""), other["paths"], target)
    for name in program.folders:
        (folder / name).mkdir(parents=True, exist_ok=True)
    for name in program.empty:
        (folder / name).touch()


def _take(mirrors: Path, repository: str, commit: str, root: str, paths: Sequence[str], folder: Path) -> None:
    """Blobs are read one by one: a mirror may lack some that the program does not need."""
    mirror = directory(mirrors, repository)
    names = _git(mirror, "ls-tree", "-r", "--name-only", "-z", commit).decode("utf-8", "replace").split("\0")
    prefix = f"{root}/" if root else ""
    for pattern in paths:
        matching = [name for name in names if name.startswith(prefix) and fnmatch(name[len(prefix) :], pattern)]
        if not matching:
            raise Missing(f"{repository} has no {prefix}{pattern} at {commit}")
        for name in matching:
            target = folder / name[len(prefix) :]
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(_git(mirror, "cat-file", "blob", f"{commit}:{name}"))

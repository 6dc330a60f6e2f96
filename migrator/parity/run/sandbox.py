"""A working copy of a program for one run, so that runs share neither checkpoints nor temporary files."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from migrator.discover.cells import SUFFIX
from migrator.parity.judge.case import CaseError, Program

SKIPPED = {
    ".git",
    ".hg",
    ".svn",
    "__pycache__",
    ".venv",
    "venv",
    ".tox",
    ".mypy_cache",
    ".pytest_cache",
    "node_modules",
}
LINK_FROM_BYTES = 5_000_000
MAX_FILES = 20_000


@dataclass(frozen=True)
class Sandbox:
    """The folder of one side: a copy of the program, a place for temporary files, the recording, the log."""

    root: Path

    @property
    def program(self) -> Path:
        return self.root / "program"

    @property
    def recording(self) -> Path:
        return self.root / "recording"

    @property
    def log(self) -> Path:
        return self.root / "log.txt"

    @property
    def progress(self) -> Path:
        return self.root / "progress"

    @property
    def temporary(self) -> Path:
        return self.root / "tmp"


def make(root: Path, program: Program) -> Sandbox:
    """Copy the folder of `program` into a new sandbox at `root`. Raises CaseError if it is too big to copy."""
    sandbox = Sandbox(root)
    if root.exists():
        shutil.rmtree(root)
    sandbox.temporary.mkdir(parents=True)
    copy_program(program.folder, sandbox.program, skip=root)
    return sandbox


def again(root: Path, state: Path) -> Sandbox:
    """The sandbox at `root` as an earlier run has left it, of which `state` is a copy, but for its recording and its log."""
    shutil.rmtree(root, ignore_errors=True)
    written = {"recording", "log.txt", "progress"}

    def ignored(folder: str, names: list[str]) -> set[str]:
        return written & set(names) if Path(folder) == state else set()

    shutil.copytree(state, root, symlinks=True, ignore=ignored)
    sandbox = Sandbox(root)
    sandbox.temporary.mkdir(exist_ok=True)
    return sandbox


def script_of(sandbox: Sandbox, start: str) -> str:
    """The file to run for `start`: for a notebook a script of its code cells, without magics, written beside it.

    Raises CaseError for a notebook that cannot be read.
    """
    if not start.endswith(SUFFIX):
        return start
    from migrator.discover.notebooks import script
    from migrator.discover.sources import Unusable

    notebook = sandbox.program / start
    try:
        text = script(notebook.read_bytes())
    except Unusable as error:
        raise CaseError(f"{start}: {error.diagnostic.message}") from error
    target = notebook.with_name(notebook.stem.replace(".", "_") + "_notebook.py")
    while target.exists():
        target = target.with_name("_" + target.name)
    target.write_text(text, "utf-8")
    return str(target.relative_to(sandbox.program))


def copy_program(folder: Path, target: Path, skip: Path | None = None) -> None:
    """Copy a program; large data files become links. Leaves out version control, caches and environments."""
    for current, names in _walk(folder, skip):
        place = target / os.path.relpath(current, folder)
        place.mkdir(parents=True, exist_ok=True)
        for name in names:
            source = Path(current, name)
            if source.stat().st_size >= LINK_FROM_BYTES:
                (place / name).symlink_to(source.resolve())
            else:
                shutil.copy2(source, place / name)


def program_files(folder: Path, skip: Path | None = None) -> Iterator[Path]:
    """The files of a program that `copy_program` copies. Raises CaseError if there are too many."""
    return (Path(current, name) for current, names in _walk(folder, skip) for name in names)


def digest(folder: Path, skip: Path | None = None, also: str = "") -> str:
    """A checksum of the files of a program, and of what is given `also`. Of large files the size counts.

    Raises CaseError if there are too many.
    """
    found = hashlib.sha256(also.encode())
    for path in sorted(program_files(folder, skip)):
        size = path.stat().st_size
        found.update(f"\n{path.relative_to(folder).as_posix()} {size}\n".encode())
        if size < LINK_FROM_BYTES:
            found.update(path.read_bytes())
    return found.hexdigest()


def _walk(folder: Path, skip: Path | None) -> Iterator[tuple[str, list[str]]]:
    count = 0
    stop = skip.resolve() if skip else None
    for current, folders, files in os.walk(folder):
        if stop is not None:
            folders[:] = [name for name in folders if Path(current, name).resolve() not in (stop, *stop.parents)]
        folders[:] = [
            name for name in folders if name not in SKIPPED and not Path(current, name, "pyvenv.cfg").exists()
        ]
        count += len(files)
        if count > MAX_FILES:
            raise CaseError(
                f"{folder}: more than {MAX_FILES} files to copy; move the program into a folder of its own "
                "(large data may stay outside and be given by absolute paths)"
            )
        yield current, [name for name in files if Path(current, name).is_file()]  # no sockets, pipes, dangling links

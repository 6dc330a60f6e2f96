"""What to compare: programs, arguments and tolerances."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from migrator.discover.components import imported_names
from migrator.parity.judge.report import SECTIONS, Tolerance
from migrator.vendor.vendoring import FILE_NAMES


class CaseError(Exception):
    """A case that cannot be run as given; the text says what to change."""


class SideError(Exception):
    """A side did not run to its end; the text has the tail of its log and says where the log is."""


@dataclass(frozen=True)
class Program:
    """A program: a file, or a folder with the file or module in it to start."""

    path: Path
    entry: str = ""
    module: str = ""
    cwd: str = ""
    """The folder of the program that it runs in, where that is another than the one it stands in."""
    args: tuple[str, ...] = ()
    python: str = sys.executable

    def __str__(self) -> str:
        return str(self.path / self.entry) if self.entry else str(self.path)

    @property
    def folder(self) -> Path:
        """What is copied into the sandbox."""
        return self.path if self.path.is_dir() else self.path.parent

    def start(self) -> str:
        """The file to run, relative to `folder`; empty if a module is run. Raises CaseError if it is not clear."""
        if self.module:
            return ""
        if self.path.is_file():
            return self.path.name
        if not self.path.exists():
            raise CaseError(f"{self.path}: no such file or folder")
        if self.entry:
            if not (self.path / self.entry).is_file():
                raise CaseError(f"{self.path / self.entry}: no such file (from --entry)")
            return self.entry
        files = sorted(path for path in self.path.glob("*.py") if path.name not in FILE_NAMES)
        mains = [path for path in files if "__main__" in path.read_text("utf-8", "replace")]
        usual = [path for path in mains or files if path.name in ("task.py", "main.py", "train.py", "trainer.py")]
        for candidates in (mains or files, usual):
            if len(candidates) == 1:
                return candidates[0].name
        names = ", ".join(path.name for path in mains or files) or "no Python file"
        raise CaseError(f"{self.path}: which file starts the program? Give --entry FILE or -m MODULE (found: {names})")


def given_program(path: Path, cwd: str = "", here: Path = Path(), **start: Any) -> Program:
    """The program that a path means: a file that imports the package it stands in is started as a module of that.

    The folder `cwd` that it runs in is one below a folder that is given; of a file, one by its path from `here` or from
    where the file stands.
    Raises CaseError if there is none.
    """
    if cwd:
        places = [base / cwd for base in ((here, path.parent) if path.is_file() else (path,))]
        found = next((place for place in places if place.is_dir()), None)
        if found is None:
            raise CaseError(f"{places[0]}: no such folder (from --cwd)")
        if not path.is_file():
            return Program(path, cwd=cwd, **start)
        return _running_in(given_program(path, **start), found.resolve())
    if path.suffix == ".py" and path.is_file() and not start.get("entry") and not start.get("module"):
        root = path.resolve().parent
        while (root / "__init__.py").is_file():
            root = root.parent
        module = ".".join(path.resolve().relative_to(root).with_suffix("").parts)
        if "." in module and {module.partition(".")[0], "."} & _imported(path):
            return Program(root, **{**start, "module": module})
    return Program(path, **start)


def entry_below(entry: str, folders: Sequence[Path]) -> str:
    """The path of an entry below one of the folders, where it is given by one from here or from the root.

    Raises CaseError where that leads out of all of them: each side starts the file of its own copy.
    """
    if not entry or (not os.path.isabs(entry) and any((folder / entry).is_file() for folder in folders)):
        return entry
    for whole in (os.path.abspath, os.path.realpath):
        for folder in folders:
            if Path(whole(folder)) in Path(whole(entry)).parents:
                return os.path.relpath(whole(entry), whole(folder))
    if os.path.isabs(entry):
        raise CaseError(f"{entry}: not below {' or '.join(map(str, folders))} (from --entry)")
    return entry


def _running_in(program: Program, cwd: Path) -> Program:
    """A program that is a file, or a module, in the folder above it that holds both it and where it runs."""
    folder = program.folder.resolve()
    top = Path(os.path.commonpath([folder, cwd]))
    below = os.path.relpath(cwd, top)
    if program.module:
        if top != folder:
            raise CaseError(f"{cwd}: a module of {folder} runs in that folder, or below it (from --cwd)")
        return replace(program, cwd=below)
    return replace(program, path=top, entry=os.path.relpath(folder / program.path.name, top), cwd=below)


def _imported(path: Path) -> set[str]:
    """The first names of what a file imports; a dot for imports from its own package."""
    return {module.partition(".")[0] or "." for module, _ in imported_names(path.read_bytes())}


@dataclass(frozen=True)
class Case:
    """One comparison. `new` is None where `old` is to be migrated first."""

    name: str
    old: Program
    new: Program | None = None
    steps: int = 0
    resume: int = 0
    """After how many steps of each training both programs are stopped and started again; 0: never."""
    tolerance: Tolerance = field(default_factory=Tolerance)
    mode: str = "replay"
    compare: tuple[str, ...] = SECTIONS
    dialect: str = "auto"
    timeout: float = 600.0
    variables: tuple[tuple[str, str], ...] = ()
    """Known pairs of a TF1 variable name and a Keras attribute path; ``*`` is a running number."""
    derived: tuple[tuple[tuple[str, str], ...], ...] = ()
    """Such pairs as a migration of the old program knows them, for each of its models; those of the model count that fit
    best, where they do."""
    cluster: str = ""
    """Processes to run on, such as ``ps:1w2ps``; empty: one."""
    seed: int = 0
    """Of what both sides draw by chance."""
    seeds: int = 0
    """How often to train where trainers race each other, or without replay; 0: as often as is usual there."""
    from_python2: bool = False
    """Whether the programs are converted from Python 2 before they run, if the settings do not say so anyway."""
    exclude: tuple[str, ...] = ()
    """Patterns of files that stay when the old program is migrated, beside those of its settings."""
    remarks: tuple[str, ...] = ()
    """What is to be said of what was done to the programs before they ran."""
    since: str = ""
    """A revision of git: its state of `old` is the old program."""
    new_python: str = sys.executable
    """Interpreter of the new side where `new` is None or comes from a file of cases."""

    @property
    def folder_name(self) -> str:
        """Its name, as the name of a folder."""
        return "".join(letter if letter.isalnum() or letter in "-_." else "_" for letter in self.name)

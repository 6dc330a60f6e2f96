"""Which programs are tried: where they are, how they start, what data are made up for them."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from migrator.vocabulary import toml

HERE = Path(__file__).resolve().parent


@dataclass(frozen=True)
class Program:
    """One program of a public repository."""

    name: str
    repository: str
    """As `owner/name`."""
    commit: str
    paths: tuple[str, ...]
    """Files of the repository, as shell patterns."""
    root: str = ""
    """The folder of the repository that the program is started in; `paths`, `entry` and data are relative to it."""
    entry: str = ""
    """The file that starts it, or"""
    module: str = ""
    """the module that does."""
    cwd: str = ""
    """The folder below `root` that it runs in, where that is another."""
    args: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    """What `migrate` is told beside `--apply`, where the program leaves it no choice by itself; the page names them."""
    environment: dict[str, str] = field(default_factory=dict)
    """Variables of the environment."""
    beside: tuple[dict[str, Any], ...] = ()
    """Modules of other repositories that it imports: tables with `repository`, `paths`, `root`, and the folder `into`
    which they go."""
    left_out: str = ""
    """Why nothing can be said of it, where its old side ends well and does not do what it says."""
    steps: int = 30
    """After which each training is stopped where both sides are compared."""
    empty: tuple[str, ...] = ()
    """Files that are missing in the repository, and may be empty: `__init__.py` of packages."""
    folders: tuple[str, ...] = ()
    """Folders that it expects."""
    data: tuple[dict[str, Any], ...] = field(default=())

    @property
    def start(self) -> list[str]:
        """What follows the interpreter in the folder that it runs in."""
        return [*(["-m", self.module] if self.module else [os.path.relpath(self.entry, self.cwd or ".")]), *self.args]


def programs(path: Path = HERE / "programs.toml") -> list[Program]:
    """All programs of a manifest. Raises ValueError where one is not told apart by its name, or has no start."""
    found = []
    repositories: dict[str, str] = {}
    tables = toml.loads(path.read_text("utf-8"))
    for repository in tables["repository"]:
        repositories[repository["name"]] = repository["commit"]
    for table in tables["program"]:
        values: dict[str, Any] = {
            key: tuple(value) if isinstance(value, list) else value for key, value in table.items()
        }
        for other in values.get("beside", ()):
            other["commit"] = repositories[other["repository"]]
        found.append(Program(commit=repositories[table["repository"]], **values))
    names = [program.name for program in found]
    if len(set(names)) < len(names):
        raise ValueError(f"{path}: two programs have one name")
    for program in found:
        if bool(program.entry) == bool(program.module):
            raise ValueError(f"{path}: {program.name} needs either `entry` or `module`")
    return found

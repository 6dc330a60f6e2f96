"""What to compare: programs, arguments and tolerances, from the command line or from a ``parity.toml``."""

from __future__ import annotations

import ast
import math
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from migrator import toml
from migrator.parity.report import SECTIONS, Tolerance


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
        files = sorted(path for path in self.path.glob("*.py"))
        mains = [path for path in files if "__main__" in path.read_text("utf-8", "replace")]
        usual = [path for path in mains or files if path.name in ("task.py", "main.py", "train.py", "trainer.py")]
        for candidates in (mains or files, usual):
            if len(candidates) == 1:
                return candidates[0].name
        names = ", ".join(path.name for path in mains or files) or "no Python file"
        raise CaseError(f"{self.path}: which file starts the program? Give --entry FILE or -m MODULE (found: {names})")


def given_program(path: Path, **start: Any) -> Program:
    """The program that a path means: a file that imports the package it stands in is started as a module of that."""
    if path.suffix == ".py" and path.is_file() and not start.get("entry") and not start.get("module"):
        root = path.resolve().parent
        while (root / "__init__.py").is_file():
            root = root.parent
        module = ".".join(path.resolve().relative_to(root).with_suffix("").parts)
        if "." in module and {module.partition(".")[0], "."} & _imported(path):
            return Program(root, **{**start, "module": module})
    return Program(path, **start)


def _imported(path: Path) -> set[str]:
    """The first names of what a file imports; a dot for imports from its own package."""
    try:
        tree = ast.parse(path.read_bytes())
    except (SyntaxError, ValueError):
        return set()
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names.add("." if node.level else (node.module or "").partition(".")[0])
    return names


@dataclass(frozen=True)
class Case:
    """One comparison. `new` is None where `old` is to be migrated first."""

    name: str
    old: Program
    new: Program | None = None
    steps: int = 0
    tolerance: Tolerance = field(default_factory=Tolerance)
    mode: str = "replay"
    compare: tuple[str, ...] = SECTIONS
    dialect: str = "auto"
    timeout: float = 600.0
    variables: tuple[tuple[str, str], ...] = ()
    """Known pairs of a TF1 variable name and a Keras attribute path; ``*`` is a running number."""
    cluster: str = ""
    """Processes to run on, such as ``ps:1w2ps``; empty: one."""
    seeds: int = 5
    """How often to train where trainers race each other."""
    new_python: str = sys.executable
    """Interpreter of the new side where `new` is None or comes from a ``parity.toml``."""

    @property
    def folder_name(self) -> str:
        """Its name, as the name of a folder."""
        return "".join(letter if letter.isalnum() or letter in "-_." else "_" for letter in self.name)


_KEYS = {
    *("name", "old", "new", "program", "entry", "module", "args", "steps", "rtol", "atol", "mode", "compare"),
    *("timeout", "variables", "dialect", "cluster", "seeds"),
}


def load_cases(path: Path, defaults: Case) -> list[Case]:
    """The cases of a ``parity.toml``, or of every one below the folder `path`, sorted. Raises CaseError."""
    files = sorted(path.rglob("parity.toml")) if path.is_dir() else [path]
    if not files:
        raise CaseError(f"{path}: holds no parity.toml")
    return [case for file in files for case in _read(file, defaults)]


def _read(file: Path, defaults: Case) -> list[Case]:
    try:
        data = _toml(file)
    except (OSError, ValueError) as error:
        raise CaseError(f"{file}: {error}") from error
    unknown = set(data) - {"case"}
    tables = data.get("case", [])
    if unknown or not isinstance(tables, list) or not tables:
        raise CaseError(
            f"{file}: expected a list of tables [[case]]" + (f", found {sorted(unknown)}" if unknown else "")
        )
    return [_case(file, number, table, defaults) for number, table in enumerate(tables, 1)]


def _case(file: Path, number: int, table: Mapping[str, Any], defaults: Case) -> Case:
    where = f"{file}: case {number}"
    unknown = sorted(set(table) - _KEYS)
    if unknown:
        raise CaseError(f"{where}: unknown keys {', '.join(unknown)}; known are {', '.join(sorted(_KEYS))}")
    if ("program" in table) == ("old" in table) or ("old" in table) != ("new" in table):
        raise CaseError(f"{where}: needs either program, or old and new")
    sections = tuple(table.get("compare", SECTIONS))
    if not set(sections) <= set(SECTIONS) or not sections:
        raise CaseError(f"{where}: compare takes {', '.join(SECTIONS)}")
    if table.get("mode", "replay") not in ("replay", "live"):
        raise CaseError(f"{where}: mode is replay or live")
    shared: dict[str, Any] = {
        "entry": str(table.get("entry", "")),
        "module": str(table.get("module", "")),
        "args": tuple(str(arg) for arg in table.get("args", ())) + defaults.old.args,
    }
    old = replace(defaults.old, path=file.parent / table.get("program", table.get("old")), **shared)
    new = None
    if "new" in table:
        new = Program(path=file.parent / table["new"], python=defaults.new_python, **shared)
    name = str(table.get("name", old.path.stem))
    folder = os.path.relpath(file.parent)
    return replace(
        defaults,
        name=name if folder == "." else f"{folder}/{name}",
        old=old,
        new=new,
        steps=int(table.get("steps", defaults.steps)),
        tolerance=_tolerance(where, table, defaults.tolerance),
        mode=str(table.get("mode", defaults.mode)),
        compare=sections,
        dialect=str(table.get("dialect", defaults.dialect)),
        timeout=float(table.get("timeout", defaults.timeout)),
        cluster=str(table.get("cluster", defaults.cluster)),
        seeds=int(table.get("seeds", defaults.seeds)),
        variables=tuple((str(a), str(b)) for a, b in table.get("variables", ())),
    )


def _tolerance(where: str, table: Mapping[str, Any], defaults: Tolerance) -> Tolerance:
    numbers = {name: float(table.get(name, getattr(defaults, name))) for name in ("rtol", "atol")}
    for name, number in numbers.items():
        if not 0 <= number < math.inf:
            raise CaseError(f"{where}: {name} is {number:g}, not a finite number of at least 0")
    return Tolerance(**numbers)


def _toml(file: Path) -> dict[str, Any]:
    return toml.loads(file.read_text(encoding="utf-8"))

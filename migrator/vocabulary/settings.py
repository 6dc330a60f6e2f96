"""Options: from ``migrate.toml`` or ``[tool.migrate]`` in pyproject.toml, and from the command line, as one frozen object."""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from migrator.cli.choices import FEATURES, STRATEGIES, STYLES, TARGETS
from migrator.vocabulary import toml
from migrator.vocabulary.diagnostics import Location
from migrator.vocabulary.patterns import excluded

KEYS = (
    *(
        "select",
        "ignore",
        "per-file-ignores",
        "exclude",
        "unsafe",
        "jobs",
        "target",
        "style",
        "strategy",
        "features",
        "exact",
        "from-python2",
    ),
    *("timeout", "parity"),
)
"""What may stand in ``[tool.migrate]`` of pyproject.toml, and at the top of migrate.toml."""

OWN_FILE = "migrate.toml"

_CHOICES = {"style": STYLES, "strategy": STRATEGIES, "features": FEATURES, "target": TARGETS}


class SettingsError(Exception):
    """A setting is wrong; the message names file, key and remedy."""


@dataclass(frozen=True)
class Settings:
    """How to migrate. Codes are given as prefixes: ``EST1`` means every code that starts so."""

    select: tuple[str, ...] = ()
    """Codes to look at; empty means all."""
    ignore: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    """Glob patterns of files to leave out of searches."""
    unsafe: bool = False
    """Also apply fixes that may change what the program computes."""
    jobs: int = 0
    """Processes to use; 0 means one for each core."""
    style: str = "auto"
    """One of `STYLES`."""
    strategy: str = "auto"
    """One of `STRATEGIES`."""
    features: str = "columns"
    """One of `FEATURES`."""
    exact: bool = False
    """Optimizers of TensorFlow 1 to the last bit, also where those of Keras differ by rounding alone."""
    from_python2: bool = False
    """Convert what is Python 2 before it is migrated."""
    target: str = "any"
    """One of `TARGETS`."""
    apply: bool = False
    """The result will be written, so what is left is reported at its new place."""
    per_file_ignores: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """Pairs of a glob pattern and the codes to ignore in files that match it."""
    root: str = field(default="", compare=False)
    """Folder of the configuration file: what the patterns of `per_file_ignores` are relative to."""
    declined_files: frozenset[str] = frozenset()
    """Files that a review leaves as they are."""
    declined: frozenset[tuple[str, Location]] = frozenset()
    """Changes that a review declined, by code and place in the original."""
    timeout: float = 120.0
    """Seconds for one component (files that import each other)."""

    def selects(self, code: str) -> bool:
        """Whether diagnostics of this code are wanted. The longest prefix that matches decides; E codes always are."""
        if code.startswith("E0"):
            return True
        chosen = max(
            (len(prefix) for prefix in self.select if code.startswith(prefix)), default=-1 if self.select else 0
        )
        ignored = max((len(prefix) for prefix in self.ignore if code.startswith(prefix)), default=-1)
        return chosen >= 0 and chosen > ignored

    def ignored_in(self, path: str) -> tuple[str, ...]:
        """Prefixes of the codes that are ignored in one file."""
        name = os.path.relpath(path, self.root or os.curdir)
        found = {code for pattern, codes in self.per_file_ignores if excluded(name, (pattern,)) for code in codes}
        return tuple(sorted(found))

    def merged(self, **options: Any) -> Settings:
        """These settings with the options that are not None."""
        return replace(self, **{name: value for name, value in options.items() if value is not None})


def load(paths: Sequence[str] = (), config: Path | None = None) -> Settings:
    """Settings of the nearest migrate.toml, or pyproject.toml with a table of ours, at or above the first path.

    Raises SettingsError.
    """
    for file in [config] if config else candidates(paths[0] if paths else os.curdir):
        try:
            text = file.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise SettingsError(f"{file}: cannot read: {error}") from error
        if file.name == OWN_FILE:
            return from_table(_parse(file, text), str(file), "")
        if "migrate" in text:  # spares the import of a TOML parser
            tools = _parse(file, text).get("tool", {})
            if isinstance(tools, dict) and "migrate" in tools:
                return from_table(tools["migrate"], str(file))
    return Settings()


def from_table(table: Any, where: str, header: str = "[tool.migrate]") -> Settings:
    """Check the settings of the file `where`. Raises SettingsError."""
    if not isinstance(table, dict):
        raise SettingsError(f"{where}: {header} must be a table")
    inside = f" in {header}" if header else ""
    values: dict[str, Any] = {}
    types = {item.name: str(item.type) for item in fields(Settings)}
    for key, value in table.items():
        if key not in KEYS:
            near = difflib.get_close_matches(key.replace("_", "-"), KEYS, n=1)
            hint = f"did you mean {near[0]}?" if near else f"known are {', '.join(KEYS)}"
            raise SettingsError(f"{where}: unknown key {key}{inside}; {hint}")
        if key == "parity":  # the cases, which `migrate parity` reads
            if not isinstance(value, list) or not all(isinstance(case, dict) for case in value):
                place = f"{header[1:-1]}.parity" if header else "parity"
                raise SettingsError(f"{where}: the cases of parity must be a list of tables [[{place}]]")
            continue
        name = key.replace("-", "_")
        values[name] = _checked(value, types[name], f"{where}: {key}{inside}", _CHOICES.get(key, ()))
    return Settings(**values, root=os.path.dirname(os.path.abspath(where)))


def _checked(value: Any, kind: str, what: str, choices: Sequence[str] = ()) -> Any:
    if kind.startswith("tuple[tuple"):
        if not isinstance(value, dict):
            raise SettingsError(f'{what} must be a table, such as {{ "legacy/*" = ["EST1"] }}')
        return tuple((glob, _checked(codes, "tuple", f"{what}: {glob}")) for glob, codes in value.items())
    if kind.startswith("tuple"):
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise SettingsError(f'{what} must be a list of strings, such as ["EST1"]')
        return tuple(value)
    if kind == "bool":
        if not isinstance(value, bool):
            raise SettingsError(f"{what} must be true or false")
        return value
    if kind == "str":
        if value not in choices:
            raise SettingsError(f"{what} must be one of {', '.join(choices)}")
        return value
    numbers = (int, float) if kind == "float" else int
    if isinstance(value, bool) or not isinstance(value, numbers) or value < 0:
        raise SettingsError(f"{what} must be a {'number of seconds' if kind == 'float' else 'whole number, 0 or more'}")
    return value


def candidates(path: str | Path) -> Iterator[Path]:
    """Configuration files at and above `path`, the nearest first. The search ends at the first pyproject.toml."""
    start = Path(os.path.abspath(path))
    for folder in (start, *start.parents):
        for name in (OWN_FILE, "pyproject.toml"):
            if os.path.isfile(folder / name):  # False in a folder that may not be entered
                yield folder / name
        if os.path.isfile(folder / "pyproject.toml"):
            return


def _parse(file: Path, text: str) -> dict[str, Any]:
    try:
        return toml.loads(text)
    except ValueError as error:
        raise SettingsError(f"{file}: not valid TOML: {error}") from error

"""Options: from ``[tool.migrate]`` in pyproject.toml and from the command line, as one frozen object."""

from __future__ import annotations

import difflib
import os
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from migrator import toml

KEYS = ("select", "ignore", "exclude", "unsafe", "jobs", "style")
"""What may stand in ``[tool.migrate]``."""

STYLES = ("auto", "native", "bridge")
"""Tiers that a model_fn may move to: the best that holds it, Keras layers only, or a graph inside a Keras model only."""


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
    apply: bool = False
    """The result will be written, so what is left is reported at its new place."""
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

    def merged(self, **options: Any) -> Settings:
        """These settings with the options that are not None."""
        return replace(self, **{name: value for name, value in options.items() if value is not None})


def load(paths: Sequence[str] = (), config: Path | None = None) -> Settings:
    """Settings of the nearest pyproject.toml at or above the first path. Raises SettingsError."""
    file = config or _find(paths[0] if paths else os.curdir)
    if file is None:
        return Settings()
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"{file}: cannot read: {error}") from error
    if "migrate" not in text:  # spares the import of a TOML parser
        return Settings()
    table = _parse(file, text).get("tool", {}).get("migrate", {})
    return from_table(table, str(file))


def from_table(table: Any, where: str) -> Settings:
    """Check a ``[tool.migrate]`` table. Raises SettingsError."""
    if not isinstance(table, dict):
        raise SettingsError(f"{where}: [tool.migrate] must be a table")
    values: dict[str, Any] = {}
    types = {field.name: field.type for field in fields(Settings)}
    for key, value in table.items():
        if key not in KEYS:
            near = difflib.get_close_matches(key, KEYS, n=1)
            hint = f"did you mean {near[0]}?" if near else f"known are {', '.join(KEYS)}"
            raise SettingsError(f"{where}: unknown key {key} in [tool.migrate]; {hint}")
        values[key] = _checked(key, value, str(types[key]), where)
    return Settings(**values)


def _checked(key: str, value: Any, kind: str, where: str) -> Any:
    if kind.startswith("tuple"):
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise SettingsError(f'{where}: {key} in [tool.migrate] must be a list of strings, such as ["EST1"]')
        return tuple(value)
    if kind == "bool":
        if not isinstance(value, bool):
            raise SettingsError(f"{where}: {key} in [tool.migrate] must be true or false")
        return value
    if kind == "str":
        if value not in STYLES:
            raise SettingsError(f"{where}: {key} in [tool.migrate] must be one of {', '.join(STYLES)}")
        return value
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise SettingsError(f"{where}: {key} in [tool.migrate] must be a whole number, 0 or more")
    return value


def _find(path: str) -> Path | None:
    start = Path(os.path.abspath(path))
    for folder in (start, *start.parents):
        file = folder / "pyproject.toml"
        if file.is_file():
            return file
    return None


def _parse(file: Path, text: str) -> dict[str, Any]:
    try:
        return toml.loads(text)
    except ValueError as error:
        raise SettingsError(f"{file}: not valid TOML: {error}") from error

"""Cases that stand in files: in a ``parity.toml``, or beside the options in ``migrate.toml`` and ``pyproject.toml``."""

from __future__ import annotations

import difflib
import math
import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from migrator.parity.judge.case import Case, CaseError, Program, given_program
from migrator.parity.judge.report import SECTIONS, Tolerance
from migrator.vocabulary import toml

PLACES = {"migrate.toml": ("parity",), "pyproject.toml": ("tool", "migrate", "parity")}
"""Where the list of cases stands in files of options; in all others it is ``case``."""


def load_cases(path: Path, defaults: Case) -> list[Case]:
    """The cases of a file, or of every ``parity.toml`` below the folder `path`, sorted. Raises CaseError."""
    files = sorted(path.rglob("parity.toml")) if path.is_dir() else [path]
    if not files:
        raise CaseError(f"{path}: holds no parity.toml")
    return [case for file in files for case in _read(file, defaults)]


def holds_cases(path: Path) -> bool:
    """Whether a file of options lists cases. Raises CaseError where it cannot be read."""
    return bool(_tables(path))


def _read(file: Path, defaults: Case) -> list[Case]:
    tables = _tables(file)
    if not isinstance(tables, list) or not tables:
        raise CaseError(f"{file}: expected a list of tables [[{'.'.join(_place(file))}]]")
    return [_case(file, number, table, defaults) for number, table in enumerate(tables, 1)]


def _place(file: Path) -> tuple[str, ...]:
    return PLACES.get(file.name, ("case",))


def _tables(file: Path) -> Any:
    try:
        data: Any = toml.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise CaseError(f"{file}: {error}") from error
    unknown = sorted(set(data) - {"case"}) if file.name not in PLACES else []
    if unknown:
        raise CaseError(f"{file}: expected a list of tables [[case]], found {unknown}")
    for key in _place(file):
        data = data.get(key, []) if isinstance(data, dict) else []
    return data


def _case(file: Path, number: int, table: Any, defaults: Case) -> Case:
    where = f"{file}: case {number}"
    if not isinstance(table, dict):
        raise CaseError(f"{where}: expected a table")
    for key, value in table.items():
        if key not in _KEYS:
            near = difflib.get_close_matches(key, _KEYS, n=1)
            hint = f"did you mean {near[0]}?" if near else f"known are {', '.join(sorted(_KEYS))}"
            raise CaseError(f"{where}: unknown key {key}; {hint}")
        wanted, holds = _KEYS[key]
        if not holds(value):
            raise CaseError(f"{where}: {key} must be {wanted}, not {value!r}")
    if ("program" in table) == ("old" in table) or ("old" in table) != ("new" in table):
        raise CaseError(f"{where}: needs either program, or old and new")
    return _made(file, table, defaults)


def _made(file: Path, table: Mapping[str, Any], defaults: Case) -> Case:
    shared: dict[str, Any] = {
        "entry": table.get("entry", ""),
        "module": table.get("module", ""),
        "args": tuple(str(arg) for arg in table.get("args", ())) + defaults.old.args,
    }
    old = _program(file, table.get("program", table.get("old")), table, shared, defaults.old.python)
    new = _program(file, table["new"], table, shared, defaults.new_python) if "new" in table else None
    name = table.get("name", Path(table.get("program", table.get("old"))).stem)
    folder = os.path.relpath(file.parent)
    plain = {
        key: table[key] for key in ("steps", "resume", "mode", "dialect", "cluster", "seed", "seeds") if key in table
    }
    plain.update({"from_python2": table["from-python2"]} if "from-python2" in table else {})
    return replace(
        defaults,
        name=name if folder == "." else f"{folder}/{name}",
        old=old,
        new=new,
        tolerance=Tolerance(*(float(table.get(key, getattr(defaults.tolerance, key))) for key in ("rtol", "atol"))),
        compare=tuple(table.get("compare", SECTIONS)),
        timeout=float(table.get("timeout", defaults.timeout)),
        variables=tuple((a, b) for a, b in table.get("variables", ())),
        **plain,
    )


def _program(file: Path, name: str, table: Mapping[str, Any], shared: Mapping[str, Any], python: str) -> Program:
    path = file.parent / name
    cwd = table.get("cwd", "")
    if cwd and path.is_file():
        return given_program(path, cwd, file.parent, python=python, **shared)
    return Program(path, cwd=cwd, python=python, **shared)


def _text(value: object) -> bool:
    return isinstance(value, str)


def _whole(least: int) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, int) and not isinstance(value, bool) and value >= least


def _number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value < math.inf


def _one_of(*choices: str) -> tuple[str, Callable[[Any], bool]]:
    return f"one of {', '.join(choices)}", lambda value: value in choices


def _list_of(holds: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, list) and all(holds(item) for item in value)


_WORD = ("a string", _text)
_TOLERANCE = ("a finite number of at least 0", _number)
_KEYS: dict[str, tuple[str, Callable[[Any], bool]]] = {
    **dict.fromkeys(("name", "old", "new", "program", "entry", "module", "cwd", "cluster"), _WORD),
    "args": ("a list of strings and numbers", _list_of(lambda item: isinstance(item, (str, int, float)))),
    "from-python2": ("true or false", lambda value: isinstance(value, bool)),
    "steps": ("a whole number, 0 or more", _whole(0)),
    "resume": ("a whole number, 0 or more", _whole(0)),
    "seed": ("a whole number, 0 or more", _whole(0)),
    "seeds": ("a whole number, 2 or more", _whole(2)),
    "rtol": _TOLERANCE,
    "atol": _TOLERANCE,
    "timeout": ("a number of seconds", lambda value: _number(value) and value > 0),
    "mode": _one_of("replay", "live", "free"),
    "dialect": _one_of("auto", "v1", "v2"),
    "compare": (
        f"a list of some of {', '.join(SECTIONS)}",
        lambda value: bool(value) and _list_of(lambda item: item in SECTIONS)(value),
    ),
    "variables": (
        "a list of pairs, TensorFlow 1's name and the new one",
        _list_of(lambda pair: _list_of(_text)(pair) and len(pair) == 2),
    ),
}
"""What a case may say, what each must be, and whether a value is that."""

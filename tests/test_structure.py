"""The house in order: few files a folder, and imports that go one way."""

from __future__ import annotations

import ast
import collections
import configparser
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MOST_FILES = 20
LARGEST_CIRCLE = 8


def modules() -> dict[str, Path]:
    """Every module of the project by its dotted name, without those that only make folders packages."""
    found = {}
    for top, prefix in (("migrator", ()), ("rules", ("migrator",))):
        for path in (ROOT / top).rglob("*.py"):
            if path.name != "__init__.py":
                found[".".join((*prefix, *path.relative_to(ROOT).with_suffix("").parts))] = path
    return found


def imported(name: str, tree: ast.AST, known: Mapping[str, Path]) -> Iterator[str]:
    """The modules that a module imports, anywhere in it: for types only, too."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in known)
        elif isinstance(node, ast.ImportFrom):
            above = name.split(".")[: -node.level] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            yield from (found for found in (base, *(f"{base}.{a.name}" for a in node.names)) if found in known)


def circles(edges: Mapping[str, set[str]]) -> list[set[str]]:
    """Modules that reach each other, largest circle first."""
    reached: dict[str, set[str]] = {}
    for start in edges:
        seen, waiting = set[str](), [start]
        while waiting:
            for target in edges[waiting.pop()] - seen:
                seen.add(target)
                waiting.append(target)
        reached[start] = seen
    found = {frozenset({name, *(other for other in reached[name] if name in reached[other])}) for name in edges}
    return sorted(map(set, found), key=len, reverse=True)


def test_folders_are_small() -> None:
    files = collections.Counter(str(path.parent.relative_to(ROOT)) for path in modules().values())
    assert {folder: count for folder, count in files.items() if count > MOST_FILES} == {}


def test_imports_go_one_way() -> None:
    known = modules()
    edges = {name: set(imported(name, ast.parse(path.read_bytes()), known)) - {name} for name, path in known.items()}
    assert len(edges) > 300
    largest = circles(edges)[0]
    assert len(largest) <= LARGEST_CIRCLE, sorted(largest)


def test_a_circle_is_found() -> None:
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": set()})[0] == {"b", "c"}


def test_probes_that_are_loaded_by_name_are_there() -> None:
    places = [path for top in ("benchmarks", "migrator", "tests") for path in (ROOT / top).rglob("*.py")]
    names = {name for path in places for name in re.findall(r'load_probe\("([\w.]+)"\)', path.read_text("utf-8"))}
    assert "tf1.dialect" in names
    assert {name for name in names if f"migrator.parity.probe.{name}" not in modules()} == set()


def test_every_package_is_installed() -> None:
    cfg = configparser.ConfigParser()
    cfg.read(ROOT / "setup.cfg", "utf-8")
    assert {name.rpartition(".")[0] for name in modules()} <= set(cfg["options"]["packages"].split())


def test_files_of_tests_have_names_of_their_own() -> None:
    """They are modules without packages, of which pytest cannot load two of one name."""
    counted = collections.Counter(path.name for path in (ROOT / "tests").rglob("test_*.py"))
    assert [name for name, number in counted.items() if number > 1] == []

"""setup.cfg names every package and data file; a forgotten one would only be missed after installing a wheel."""

from __future__ import annotations

import configparser
import fnmatch
from pathlib import Path

import pytest


@pytest.fixture(scope="module")
def setup(root: Path) -> configparser.ConfigParser:
    parser = configparser.ConfigParser()
    parser.read(root / "setup.cfg")
    return parser


def lines(text: str) -> set[str]:
    return set(text.split())


def test_every_package_is_listed(setup: configparser.ConfigParser, root: Path) -> None:
    found = {".".join(path.parent.relative_to(root).parts) for path in (root / "migrator").rglob("__init__.py")}
    found |= {
        ".".join(("migrator", *path.parent.relative_to(root).parts)) for path in (root / "rules").rglob("__init__.py")
    }
    assert found == lines(setup["options"]["packages"])


def test_every_data_file_is_listed(setup: configparser.ConfigParser, root: Path) -> None:
    patterns = setup["options.package_data"]
    for package in lines(setup["options"]["packages"]):
        parts = package.split(".")
        folder = root.joinpath(*(parts[1:] if package.startswith("migrator.rules") else parts))
        data = [path.name for path in folder.iterdir() if path.is_file() and path.suffix not in (".py", ".pyc", ".so")]
        missed = [name for name in data if not any(fnmatch.fnmatch(name, p) for p in lines(patterns.get(package, "")))]
        assert not missed, f"{package}: {missed} would not be in the wheel"


def test_runtime_dependencies_are_few_and_each_is_justified(root: Path) -> None:
    text = (root / "setup.cfg").read_text()
    section = text.split("install_requires =\n")[1].split("\n\n")[0].splitlines()
    names = [line for line in section if not line.strip().startswith("#")]
    comments = [line for line in section if line.strip().startswith("#")]
    assert len(names) == len(comments) <= 4
    assert not any("tensorflow" in line for line in names)

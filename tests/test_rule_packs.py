"""A rule pack from elsewhere: the example of the guide, installed as its users install it; and what is none."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

Factory = pytest.TempPathFactory

PROGRAM = """\
import tensorflow as tf
from acme import data
from acme.data import read

def input_fn():
    return data.read("train")  # the train split

print(read("eval"))
"""


@pytest.fixture(scope="module")
def installed(root: Path, tmp_path_factory: Factory) -> Path:
    """A folder of libraries that holds nothing but the pack."""
    source, target = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("libraries")
    for path in (root / "docs" / "rule-pack").glob("*.[pt][yo]*"):  # a copy, as builds leave files behind
        (source / path.name).write_bytes(path.read_bytes())
    options = ["--quiet", "--disable-pip-version-check", "--no-deps", "--no-index", "--no-build-isolation"]
    command = [sys.executable, "-m", "pip", "install", *options, "--target", str(target), str(source)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return target


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The test runs here."""
    monkeypatch.chdir(tmp_path)
    Path("task.py").write_text(PROGRAM)
    yield tmp_path


def migrate(libraries: Path, *arguments: str) -> str:
    """What the command prints with these libraries."""
    done = subprocess.run(
        [sys.executable, "-m", "migrator", *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={**os.environ, "PYTHONPATH": str(libraries)},
    )
    assert done.stderr == ""
    return done.stdout


def test_its_rules_are_listed_explained_and_selected(installed: Path, folder: Path) -> None:
    assert "ACME001  read-tensors" in migrate(installed, "rules")
    assert "which need a session" in migrate(installed, "explain", "read-tensors")
    assert "ACME001" not in migrate(installed, "task.py", "--select", "EST")


def test_its_fixes_are_made_and_its_messages_shown(installed: Path, folder: Path) -> None:
    shown = migrate(installed, "task.py", "--apply")
    assert Path("task.py").read_text() == PROGRAM.replace('data.read("train")', 'data.dataset("train")')
    assert "task.py:8:7: ACME001 acme.data.read needs a session" in shown
    before = Path("task.py").read_text()
    assert "0 changes" in migrate(installed, "task.py", "--apply") and Path("task.py").read_text() == before


def test_without_it_nothing_is_known_of_it(tmp_path: Path, folder: Path) -> None:
    assert "0 changes" in migrate(tmp_path, "task.py")


def test_what_lies_in_the_current_folder_is_no_pack_and_never_runs(folder: Path, tmp_path_factory: Factory) -> None:
    hostile = "open('ran', 'w').close()\nraise SystemExit\n"
    for name in ("click.py", "rich.py", "json.py", "evil.py", "migrate.py", "sitecustomize.py"):
        Path(name).write_text(hostile)
    metadata = Path("evil-1.0.dist-info")
    metadata.mkdir()
    (metadata / "entry_points.txt").write_text("[migrator.rules]\nevil = evil\n")
    assert "7 files: 0 changes" in migrate(tmp_path_factory.mktemp("libraries"), ".")
    assert not Path("ran").exists()


def test_a_pack_that_does_not_import_is_named(folder: Path, tmp_path_factory: Factory) -> None:
    libraries = tmp_path_factory.mktemp("libraries")
    (libraries / "bad-1.0.dist-info").mkdir()
    (libraries / "bad-1.0.dist-info" / "entry_points.txt").write_text("[migrator.rules]\nbad = bad_rules\n")
    (libraries / "bad_rules.py").write_text("import no_such_module\n")
    done = subprocess.run(
        [sys.executable, "-m", "migrator", "task.py"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={**os.environ, "PYTHONPATH": str(libraries)},
    )
    assert done.returncode == 2 and "rule pack bad_rules: ModuleNotFoundError" in done.stderr
    assert "Traceback" not in done.stderr

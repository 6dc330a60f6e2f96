"""fixtures/<topic>/<case>: migrating `before` gives `after`, again changes nothing, and both train to the same losses.

`pytest tests/test_fixtures.py --update-fixtures` writes what the tool makes of `before` into `after`; review it as a diff.
"""

from __future__ import annotations

import ast
import difflib
import functools
import importlib
import io
import os
import sys
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from cli_tools import invoke
from keras_3 import NOT_WITH_KERAS_3
from program_styles import PROGRAMS, STEPS

from migrator.parity.judge.case import Case, Program
from migrator.parity.judge.casefile import load_cases
from migrator.parity.judge.recordings import Recordings
from migrator.parity.judge.report import exit_code
from migrator.parity.run.progress import Progress
from migrator.parity.run.runner import run_case
from migrator.parity.terminal import show
from migrator.vendor.vendoring import FILE_NAMES

FIXTURES = Path(__file__).resolve().parent.parent / "fixtures"
LATEST = os.environ.get("MIGRATOR_LATEST_PYTHON") or str(FIXTURES.parent / ".venv-latest" / "bin" / "python")

toml: Any = importlib.import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")


@dataclass(frozen=True)
class Fixture:
    """One program, as a file `before.py` or as a tree `before/`."""

    folder: Path

    def __str__(self) -> str:
        return self.folder.relative_to(FIXTURES).as_posix()

    @property
    def is_tree(self) -> bool:
        return (self.folder / "before").is_dir()

    def files(self, side: str) -> dict[str, str]:
        """Name -> text of `side` ("before" or "after"), under the names that the program has when it is migrated."""
        if self.is_tree:
            top = self.folder / side
            return {path.relative_to(top).as_posix(): read(path) for path in sorted(top.rglob("*.py"))}
        places = {"before.py": self.folder / f"{side}.py"}
        places.update({name: self.folder / name for name in (FILE_NAMES if side == "after" else ())})
        return {name: read(place) for name, place in places.items() if place.exists()}  # new cases have nothing after

    def write_after(self, files: dict[str, str]) -> None:
        """Makes `files` what this fixture expects."""
        for name in self.files("after").keys() - files:
            self.after(name).unlink()
        for name, text in files.items():
            self.after(name).parent.mkdir(exist_ok=True)
            self.after(name).write_bytes(text.encode())

    def after(self, name: str) -> Path:
        """Where a migrated file stands."""
        return self.folder / "after" / name if self.is_tree else self.folder / name.replace("before.py", "after.py")

    @functools.cached_property
    def cases(self) -> list[dict[str, Any]]:
        """The entries of its parity.toml."""
        cases: list[dict[str, Any]] = toml.loads(read(self.folder / "parity.toml"))["case"]
        return cases


def read(path: Path) -> str:
    """The text as it is, line ends included."""
    return path.read_bytes().decode()


def migrate(files: dict[str, str], folder: Path, fixture: Path) -> dict[str, str]:
    """What `migrate --apply` makes of `files` as a user would run it in `folder`, with the settings of the fixture.

    In this process, which has loaded all rules: `tests/test_cli_process.py` is about processes of its own.
    """
    if (fixture / "migrate.toml").exists():
        (folder / "migrate.toml").write_text(read(fixture / "migrate.toml"))
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        result = invoke(".", "--apply", "-j", "1")
    assert result.exit_code in (0, 1), result.output
    return {path.relative_to(folder).as_posix(): read(path) for path in sorted(folder.rglob("*.py"))}


def assert_same(files: dict[str, str], expected: dict[str, str]) -> None:
    """Fails with a diff of what differs."""
    lines: list[str] = []
    for name in sorted({*files, *expected}):
        old, new = (side.get(name, "").splitlines(keepends=True) for side in (expected, files))
        lines += difflib.unified_diff(old, new, f"expected/{name}", f"got/{name}")
    assert files == expected, "".join(lines)


ALL = [Fixture(path) for path in sorted(FIXTURES.glob("*/*")) if path.is_dir()]
each_fixture = pytest.mark.parametrize("fixture", ALL, ids=str)


def test_there_are_fixtures_of_every_topic() -> None:
    topics = {fixture.folder.parent.name for fixture in ALL}
    assert len(ALL) >= 10
    assert {"multi_worker", "partitioners", "classifiers", "training", "model_fn", "programs", "input"} <= topics


@each_fixture
def test_migrating_before_gives_after(fixture: Fixture, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    migrated = migrate(fixture.files("before"), tmp_path, fixture.folder)
    if request.config.getoption("--update-fixtures"):
        fixture.write_after(migrated)
    assert_same(migrated, fixture.files("after"))


@each_fixture
def test_migrating_after_changes_nothing(fixture: Fixture, tmp_path: Path) -> None:
    after = fixture.files("after")
    assert_same(migrate(after, tmp_path, fixture.folder), after)


@each_fixture
def test_after_is_python_3_9_without_estimators(fixture: Fixture) -> None:
    for name, text in fixture.files("after").items():
        ast.parse(text, name, feature_version=(3, 9))
        assert "tf.estimator." not in text and "tf1.estimator." not in text, f"{name} still uses Estimators"
        assert "migrator" not in text.replace("written by migrator", ""), f"{name} depends on this tool"


@pytest.fixture(scope="session")
def recordings(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the old programs did, for both versions of the new ones."""
    return tmp_path_factory.mktemp("recordings")


def parity(fixture: Fixture, new_python: str, recordings: Path, without: Collection[str] = ()) -> None:
    """Trains the cases of `fixture` before and after, but for those `without`. Fails with the tool's own report.

    Runs in this process, so that all fixtures of a worker share what has TensorFlow imported.
    """
    path = fixture.folder / "parity.toml"
    kept = Recordings(recordings / str(fixture).replace("/", "-"))
    cases = load_cases(path, Case("", Program(path), new_python=new_python))
    cases = [case for case in cases if "/".join(case.name.split("/")[-3:]) not in without]
    reports = [run_case(case, Progress(quiet=True), recordings=kept) for case in cases]
    text = io.StringIO()
    show(reports, text)
    assert exit_code(reports) == 0, text.getvalue()
    if str(fixture) in PROGRAMS:
        assert sum(len(report.losses) for report in reports) >= STEPS


# The tests of a fixture run in one process of pytest-xdist, so that they share the recording of the old program.
trained_fixture = pytest.mark.parametrize(
    "fixture", [pytest.param(case, marks=pytest.mark.xdist_group(str(case))) for case in ALL], ids=str
)


@pytest.mark.parity
@trained_fixture
def test_same_losses_on_tensorflow_2_15(fixture: Fixture, recordings: Path) -> None:
    pytest.importorskip("tensorflow_estimator", reason="needs TensorFlow 2.15: make setup")
    parity(fixture, sys.executable, recordings)


@pytest.mark.parity
@pytest.mark.skipif(not os.path.exists(LATEST), reason="needs the newest TensorFlow: make setup-latest")
@trained_fixture
def test_same_losses_on_the_newest_tensorflow(
    fixture: Fixture, recordings: Path, request: pytest.FixtureRequest
) -> None:
    """With tf_keras, the code of which is nearly that of TensorFlow 2.15: Keras 3 takes its place where it can."""
    needed = any(name == str(fixture) or name.startswith(f"{fixture}/") for name in NOT_WITH_KERAS_3)
    if not needed and not request.config.getoption("--every-keras"):
        pytest.skip("trained with Keras 3; --every-keras trains it with tf_keras, too")
    parity(fixture, LATEST, recordings)


@pytest.mark.parity
@pytest.mark.skipif(not os.path.exists(LATEST), reason="needs the newest TensorFlow: make setup-latest")
@trained_fixture
def test_same_losses_with_keras_3(fixture: Fixture, recordings: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if str(fixture) in NOT_WITH_KERAS_3:
        pytest.skip(NOT_WITH_KERAS_3[str(fixture)])
    monkeypatch.setenv("TF_USE_LEGACY_KERAS", "0")
    parity(fixture, LATEST, recordings, without=NOT_WITH_KERAS_3)


def test_the_list_for_keras_3_names_fixtures() -> None:
    cases = {f"{fixture}/{case['name']}" for fixture in ALL for case in fixture.cases}
    assert set(NOT_WITH_KERAS_3) <= {*map(str, ALL), *cases}


def test_what_keras_3_cannot_is_documented() -> None:
    page = read(FIXTURES.parent / "docs" / "keras-3.md")
    rows = [line.strip("| ").split(" | ") for line in page.splitlines() if line.startswith("| ")]
    listed = {name.strip("`"): row[0] for row in rows if len(row) == 4 for name in row[3].split(", ")}
    assert {
        name: why for name, why in listed.items() if name in {*NOT_WITH_KERAS_3, *map(str, ALL)}
    } == NOT_WITH_KERAS_3

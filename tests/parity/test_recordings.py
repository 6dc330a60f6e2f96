"""An old program is recorded once, and again when it changed."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from migrator.parity.command import parity
from migrator.parity.judge.case import Case, Program
from migrator.parity.judge.recordings import MANIFEST, Recorded, Recordings
from migrator.parity.judge.report import SideReport

PROGRAMS = Path(__file__).parent / "programs"
NO_PYTHON = "/no/such/python"


def run(program: Path, recordings: Path, *more: str) -> tuple[int, str]:
    result = CliRunner().invoke(parity, [str(program), "-q", "--recordings", str(recordings), *more])
    return result.exit_code, result.output


def test_an_old_program_runs_once(tmp_path: Path) -> None:
    """The second time there is no interpreter for it."""
    pytest.importorskip("tensorflow_estimator")
    program = Path(shutil.copy(PROGRAMS / "regression.py", tmp_path))
    recordings = tmp_path / "recordings"
    code, first = run(program, recordings)
    assert code == 0 and "was not run" not in first, first
    code, second = run(program, recordings, "--old-python", NO_PYTHON)
    assert code == 0 and "the old program was not run: its recording is in" in second.replace("\n", " "), second
    assert first.count("equal") == second.count("equal") and "compared 10 losses" in second
    program.write_text(program.read_text() + "\n# changed\n")
    code, third = run(program, recordings, "--old-python", NO_PYTHON)
    assert code == 2 and "could not be started" in third


@pytest.fixture
def kept(tmp_path: Path) -> tuple[Case, Recordings]:
    """A case whose recording is kept."""
    (tmp_path / "program").mkdir()
    (tmp_path / "program" / "train.py").write_text("pass\n")
    (tmp_path / "program" / "data.csv").write_text("1,2\n")
    (tmp_path / "made").mkdir()
    (tmp_path / "made" / "events.jsonl").write_text("{}\n")
    case = Case("a/b", Program(tmp_path / "program" / "train.py", args=("--steps", "3")), steps=5)
    recordings = Recordings(tmp_path / "program" / "recordings")  # inside of the program: not a part of it
    recordings.keep(case, Recorded(tmp_path / "made", SideReport("train.py", {}, 1.5)))
    return case, recordings


def test_a_folder_is_meant_from_where_the_command_runs(
    kept: tuple[Case, Recordings], monkeypatch: pytest.MonkeyPatch
) -> None:
    case, recordings = kept
    monkeypatch.chdir(recordings.folder.parent)
    found = Recordings(Path("recordings")).find(case)
    assert found is not None and found.folder.is_absolute()


def test_a_recording_is_found(kept: tuple[Case, Recordings]) -> None:
    case, recordings = kept
    found = recordings.find(case)
    assert found is not None and found.side.seconds == 1.5
    assert (found.folder / "events.jsonl").read_text() == "{}\n"
    assert [path.name for path in recordings.folder.iterdir()] == ["a_b"]


@pytest.mark.parametrize("change", ["program", "data", "new file", "args", "steps", "mode", "manifest", "name"])
def test_a_recording_of_something_else_is_not(kept: tuple[Case, Recordings], change: str) -> None:
    case, recordings = kept
    folder = case.old.folder
    other = {
        "args": Case("a/b", Program(case.old.path, args=("--steps", "4")), steps=5),
        "steps": Case("a/b", case.old, steps=6),
        "mode": Case("a/b", case.old, steps=5, mode="live"),
        "name": Case("a/c", case.old, steps=5),
    }.get(change, case)
    files = {"program": folder / "train.py", "data": folder / "data.csv", "new file": folder / "more.py"}
    if change in files:
        files[change].write_text("print()\n")
    if change == "manifest":
        (recordings.folder / "a_b" / MANIFEST).write_text("{")
    assert recordings.find(other) is None


def test_runs_with_other_last_bits_stand_beside_it(kept: tuple[Case, Recordings], tmp_path: Path) -> None:
    case, recordings = kept
    assert recordings.find(case, nudge=1) is None
    recordings.keep(case, Recorded(tmp_path / "made", SideReport("train.py", {}, 2.5)), nudge=1)
    found = [recordings.find(case, nudge=number) for number in (0, 1, 2)]
    assert [None if each is None else each.side.seconds for each in found] == [1.5, 2.5, None]
    case.old.path.write_text("print()\n")
    assert recordings.find(case, nudge=1) is None


def test_without_replay_there_is_one_for_each_seed(kept: tuple[Case, Recordings], tmp_path: Path) -> None:
    case, recordings = kept
    for seed in (1, 2):
        made = Recorded(tmp_path / "made", SideReport("train.py", {}, float(seed)))
        recordings.keep(replace(case, mode="free", seed=seed), made)
    found = [recordings.find(replace(case, mode="free", seed=seed)) for seed in (1, 2, 3)]
    assert [None if each is None else each.side.seconds for each in found] == [1.0, 2.0, None]

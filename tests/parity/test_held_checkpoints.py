"""What a comparison says where a program goes on from checkpoints that its folder holds."""

from __future__ import annotations

from pathlib import Path

import pytest

from migrator.parity.judge.case import Case, Program
from migrator.parity.judge.report import CaseReport, Difference
from migrator.parity.run.held_checkpoints import told


def report(*sections: str) -> CaseReport:
    return CaseReport("case", differences=[Difference(section, "", "differs") for section in sections])


@pytest.fixture
def case(tmp_path: Path) -> Case:
    for side in ("old", "new"):
        (tmp_path / side).mkdir()
        (tmp_path / side / "task.py").write_text("")
    return Case("case", Program(tmp_path / "old" / "task.py"), Program(tmp_path / "new" / "task.py"))


def save(folder: Path, *names: str) -> None:
    folder.mkdir(parents=True)
    for name in names:
        (folder / name).write_text("")


def test_the_side_that_holds_checkpoints_is_named(case: Case, tmp_path: Path) -> None:
    save(tmp_path / "new" / "model" / "a", "checkpoint", "model.ckpt-8.index")
    (note,) = told(case, report("steps"))
    assert "the new program holds checkpoints" in note and "(model/a): remove them" in note


def test_both_sides(case: Case, tmp_path: Path) -> None:
    for side in ("old", "new"):
        save(tmp_path / side / "model", "checkpoint", "model.ckpt-8.index")
    assert [note.split(" program")[0].split()[-1] for note in told(case, report("metrics", "steps"))] == ["old", "new"]


@pytest.mark.parametrize("sections", [(), ("losses",), ("checkpoints", "metrics")])
def test_nothing_is_said_where_steps_are_equal(case: Case, tmp_path: Path, sections: tuple[str, ...]) -> None:
    save(tmp_path / "new" / "model", "checkpoint", "model.ckpt-8.index")
    assert told(case, report(*sections)) == []


def test_other_files_of_that_name_and_folders_that_are_not_copied(case: Case, tmp_path: Path) -> None:
    save(tmp_path / "new" / "model", "checkpoint")
    save(tmp_path / "new" / ".venv" / "model", "checkpoint", "model.ckpt-8.index")
    assert told(case, report("steps")) == []

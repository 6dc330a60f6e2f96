"""The parts of benchmarks/strangers that run no program of others."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.strangers import made_up, manifest, mirrors, page, trial  # noqa: E402
from benchmarks.strangers.manifest import Program  # noqa: E402
from benchmarks.strangers.trial import Row  # noqa: E402


def test_every_program_of_the_manifest_can_be_started() -> None:
    found = manifest.programs()
    assert len({program.repository for program in found}) >= 5
    assert all(len(program.commit) == 40 for program in found)
    assert all(program.start for program in found)


def test_a_program_needs_one_start(tmp_path: Path) -> None:
    path = tmp_path / "programs.toml"
    head = '[[repository]]\nname = "a/b"\ncommit = "0"\n[[program]]\nname = "p"\nrepository = "a/b"\npaths = []\n'
    path.write_text(head)
    with pytest.raises(ValueError, match="p needs either `entry` or `module`"):
        manifest.programs(path)


def test_a_program_is_taken_out_of_a_mirror(tmp_path: Path) -> None:
    mirror = tmp_path / "mirrors" / "some+program"
    (mirror / "sub" / "trainer").mkdir(parents=True)
    (mirror / "sub" / "trainer" / "task.py").write_text("print(1)\n")
    (mirror / "sub" / "other.py").write_text("print(2)\n")
    who = ["-c", "user.name=n", "-c", "user.email=e"]
    for arguments in (["init", "-q"], ["add", "."], [*who, "commit", "-q", "-m", "m"]):
        subprocess.run(["git", *arguments], cwd=mirror, check=True)
    program = Program(
        "p",
        "some/program",
        "HEAD",
        ("trainer/*.py",),
        root="sub",
        module="trainer.task",
        empty=("trainer/__init__.py",),
    )
    target = tmp_path / "out"
    target.mkdir()
    mirrors.rebuild(program, tmp_path / "mirrors", target)
    assert sorted(path.relative_to(target).as_posix() for path in target.rglob("*.py")) == [
        "trainer/__init__.py",
        "trainer/task.py",
    ]
    with pytest.raises(mirrors.Missing, match="no mirror of other/program"):
        mirrors.directory(tmp_path / "mirrors", "other/program")


def test_a_module_of_another_repository_stands_beside(tmp_path: Path) -> None:
    for name, file in (("some+program", "models/main.py"), ("some+library", "metrics/f1.py")):
        mirror = tmp_path / "mirrors" / name
        (mirror / file).parent.mkdir(parents=True)
        (mirror / file).write_text("print(1)\n")
        who = ["-c", "user.name=n", "-c", "user.email=e"]
        for arguments in (["init", "-q"], ["add", "."], [*who, "commit", "-q", "-m", "m"]):
            subprocess.run(["git", *arguments], cwd=mirror, check=True)
    beside = {"repository": "some/library", "commit": "HEAD", "paths": ["metrics/*.py"], "into": "models"}
    program = Program(
        "p", "some/program", "HEAD", ("models/*.py",), entry="models/main.py", cwd="models", beside=(beside,)
    )
    target = tmp_path / "out"
    target.mkdir()
    mirrors.rebuild(program, tmp_path / "mirrors", target)
    assert program.start == ["main.py"]
    assert (target / "models" / "main.py").is_file() and (target / "models" / "metrics" / "f1.py").is_file()


def test_data_are_the_same_each_time(tmp_path: Path) -> None:
    tables = (
        {
            "kind": "csv",
            "file": ["a.csv", "b.csv"],
            "rows": 3,
            "header": True,
            "columns": ["x0..1 = real 0 1", "y = one of u|v"],
        },
        {"kind": "libsvm", "file": "c.txt", "rows": 2, "fields": 3, "ids": 30},
        {"kind": "csv", "file": "d.csv", "rows": 1, "columns": ["z = series 3 1 2"]},
    )
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        made_up.make(tables, tmp_path / folder)
    first = (tmp_path / "one" / "a.csv").read_text()
    assert first.splitlines()[0] == "x0,x1,y"
    assert first == (tmp_path / "two" / "a.csv").read_text() != (tmp_path / "one" / "b.csv").read_text()
    label, *pairs = (tmp_path / "one" / "c.txt").read_text().splitlines()[0].split()
    assert label in ("0", "1")
    assert [int(pair.split(":")[0]) // 10 for pair in pairs] == [0, 1, 2]
    assert [int(float(number)) for number in (tmp_path / "one" / "d.csv").read_text().split(";")] == [1, 1, 1]


def test_the_page_counts_only_what_could_run_before() -> None:
    rows = [
        Row("a/b", "one", "plain fit", trial.EQUAL),
        Row("a/b", "two", "bridge", trial.CRASHED, 0, "TypeError: x", ["the loss is not seen"]),
        Row("c/d", "three", "manual", "", 1),
        Row("e/f", "four", "manual", trial.OLD_FAILS, 1, reasons=["No module named 'x'"]),
    ]
    assert [row.broken for row in rows] == [False, True, False, False]
    text = page.text(rows)
    assert page.text(page.rows_of(text, ())) == text
    assert [row.program for row in page.rows_of(text, {"two", "four"})] == ["one", "three"]
    assert "| programs whose old side runs | 3 |" in text
    assert "| of repositories | 2 |" in text
    assert "| migrated | 2 |" in text
    assert "| e/f | four | No module named 'x' |" in text


def test_a_program_with_helpers_says_what_stops_a_plain_fit(tmp_path: Path) -> None:
    program = {
        "tier": "native",
        "reason": "",
        "others": [],
        "helpers": "its configuration is not seen (after/a.py:3:1)",
    }
    (tmp_path / "tf2_training.py").touch()
    assert trial._reasons({"programs": [program]}, tmp_path) == ["no plain fit: its configuration is not seen (a.py:3)"]


@pytest.mark.parametrize(
    ("problem", "outcome"),
    [
        ("the old program main.py: exit status 1", trial.OLD_FAILS),
        ("the old cluster of main.py: worker 0: exit status 1", trial.OLD_FAILS),
        ("the new program main.py: exit status 1 at main.py:3: no such folder", trial.CRASHED),
        ("the new program threshold.py: exit status 1", trial.CRASHED),
        ("the variables of the two programs could not be paired old program, without partner: w", trial.NOT_COMPARED),
    ],
)
def test_the_side_that_failed_is_named_first(problem: str, outcome: str, tmp_path: Path) -> None:
    (tmp_path / "parity.json").write_text(json.dumps({"cases": [{"problem": problem}]}))
    row = Row("a/b", "one")
    assert trial._blame(tmp_path, row) == outcome and row.reasons == [problem]


@pytest.mark.parametrize(
    ("problem", "outcome"), [("the old program m.py: exit status 1", trial.OLD_FAILS), ("the new program m.py: x", "")]
)
def test_a_program_that_stays_is_only_run_as_it_was(problem: str, outcome: str, tmp_path: Path) -> None:
    (tmp_path / "parity.json").write_text(json.dumps({"cases": [{"problem": problem}]}))
    row = Row("a/b", "one", "manual", reasons=["no"])
    trial._stays(tmp_path, row)
    assert row.result == outcome and row.reasons[-1] == "no"
    assert row.counts == (outcome == "")

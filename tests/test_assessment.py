"""The inventory of a code base."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from notebook_tools import notebook
from page import Page
from schemas import errors

from migrator.cli import cli
from migrator.engine.registry import Registry
from migrator.report import assessment
from migrator.vocabulary.diagnostics import Location, Outcome, ProgramUnit

SCHEMA = json.loads((Path(assessment.__file__).parent / "assessment.schema.json").read_text())
HEAD = "import tensorflow as tf\n"


@pytest.fixture(autouse=True)
def tree(sample_rules: Registry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Programs that move and that do not."""
    monkeypatch.chdir(tmp_path)
    for name, body in {
        "migrate.toml": 'select = ["TST"]\n',
        "p/model.py": HEAD + "def program(): 1\n",
        "q/model.py": HEAD + "def stuck_program(): 1\n",
        "r/model.py": HEAD + "def stuck_program(): 1\n",
        "a.py": HEAD + "tf.old, tf.gone.x\ntf.float32\n",
        "bad.py": HEAD + "print 'x'\n",
        "plain.py": "x = 1\n",
    }.items():
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text(body)
    Path("n.ipynb").write_bytes(notebook(HEAD + "tf.old", "tf.gone.x"))


def assess(*arguments: str) -> Result:
    """Run the command."""
    return CliRunner().invoke(cli.cli, [".", "--assess", *arguments], prog_name="migrate")


def test_json() -> None:
    before = {path: path.read_bytes() for path in Path().rglob("*.*")}
    found = json.loads(assess("--format", "json").stdout)
    assert found["programs"] == {"native": 1, "bridge": 0, "manual": 2}
    assert found["files"]["all"] == 7 and found["files"]["notebooks"] == 1 and found["files"]["to_change"] == 3
    assert found["files"]["tensorflow"] == 2 and "bad.py:2:1: E001" in found["files"]["failed"][0]
    (blocker,) = found["blockers"]
    assert blocker["reason"] == "line 1 is too hard" and blocker["programs"] == 2 and blocker["lines"] == 4
    assert errors(found, SCHEMA) == []
    assert found["apis"] == [
        {"name": "tf.gone.x", "uses": 2, "left": 2, "files": 2},
        {"name": "tf.old", "uses": 2, "left": 0, "files": 2},
    ]
    assert before == {path: path.read_bytes() for path in Path().rglob("*.*")}


def test_text() -> None:
    result = assess()
    assert result.exit_code == 0
    lines = result.output.splitlines()
    assert lines[1] == "3 programs, 1 native, 2 manual" and "     2  line 1 is too hard" in lines
    assert "     2      0      2  tf.old" in lines and any("bad.py:2:1: E001" in line for line in lines)


def test_what_keeps_programs_from_the_native_tier_is_counted() -> None:
    units = [ProgramUnit("a", Location("a.py", 3), "bridge", f"it has two optimizers (a.py:{line})") for line in (7, 9)]
    outcome = Outcome("a.py", "unchanged", b"x\n" * 12, b"x\n" * 12, units=tuple(units))
    shown = [line.text for line in assessment.lines([outcome])]
    at = shown.index("What keeps programs from becoming Keras layers")
    assert shown[at + 1 : at + 3] == ["     2  it has two optimizers", "        a.py:3:1 and 1 more; 12 lines of code"]
    assert "it has two optimizers " in Page(assessment.render("html", [outcome])).found


def test_html() -> None:
    text = assess("--format", "html").stdout
    page = Page(text)
    assert {"What there is to migrate", "3 programs", "line 1 is too hard ", "2 programs, 4 lines", "tf.gone.x"} <= set(
        page.found
    )
    assert "bad.py:2:1: E001" in text and page.links == []


def test_an_empty_tree_has_a_page() -> None:
    for name in Path().rglob("*.*"):
        name.unlink()
    assert "0 programs" in Page(assess("--format", "html").stdout).found


def test_a_file_takes_it() -> None:
    assert assess("-o", "out.txt").exit_code == 0
    assert Path("out.txt").read_text() == assess().output


@pytest.mark.parametrize(
    "more", [["--apply"], ["--format", "sarif"], ["--undo"], ["--format", "html", "--parity", "x"]]
)
def test_combinations_that_mean_nothing(more: list[str]) -> None:
    assert assess(*more).exit_code == 2

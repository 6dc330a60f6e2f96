"""Changes accepted and declined one by one."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from migrator import cli, running
from migrator.registry import Registry

HEAD = "import tensorflow as tf\n"


@pytest.fixture(autouse=True)
def folder(sample_rules: Registry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A project and a terminal."""
    (tmp_path / "project").mkdir()
    monkeypatch.chdir(tmp_path / "project")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setattr(running, "interactive", lambda: True)
    Path("migrate.toml").write_text('select = ["TST"]\n')
    write("a.py", "x = tf.old\ny = tf.old\ntf.lines\n")
    write("b.py", "tf.old\n")


def write(name: str, body: str) -> Path:
    """A file that imports TensorFlow."""
    path = Path(name)
    path.parent.mkdir(exist_ok=True)
    path.write_text(HEAD + body)
    return path


def review(answers: str, *arguments: str) -> Result:
    """Run the command and answer with these letters."""
    return CliRunner().invoke(
        cli.cli, [".", "--review", *arguments], input="\n".join(answers) + "\n", prog_name="migrate"
    )


def bodies() -> list[str]:
    """What is in the files."""
    return [Path(name).read_text()[len(HEAD) :] for name in ("a.py", "b.py")]


LINES = "# one\n# two\ntf.placed\n"


@pytest.mark.parametrize(
    ("answers", "a", "b"),
    [
        ("yyyy", "x = tf.new\ny = tf.new\n" + LINES, "tf.new\n"),
        ("nnnn", "x = tf.old\ny = tf.old\ntf.lines\n", "tf.old\n"),
        ("nyny", "x = tf.old\ny = tf.new\ntf.lines\n", "tf.new\n"),
        ("nnyn", "x = tf.old\ny = tf.old\n" + LINES, "tf.old\n"),
        ("nan", "x = tf.old\ny = tf.new\n" + LINES, "tf.old\n"),
        ("ydy", "x = tf.new\ny = tf.old\ntf.lines\n", "tf.new\n"),
        ("An", "x = tf.new\ny = tf.new\ntf.lines\n", "tf.new\n"),
        ("ybnyny", "x = tf.old\ny = tf.new\ntf.lines\n", "tf.new\n"),
        ("dbyyyy", "x = tf.new\ny = tf.new\n" + LINES, "tf.new\n"),
        ("?byyzyy", "x = tf.new\ny = tf.new\n" + LINES, "tf.new\n"),
    ],
)
def test_answers(answers: str, a: str, b: str) -> None:
    result = review(answers)
    assert bodies() == [a, b], result.output
    assert ("back to the change before" in result.output) == ("?" in answers or "z" in answers)


def test_each_change_is_shown_by_itself() -> None:
    output = review("nnnn").output
    assert output.count("-x = tf.old\n") == output.count("-y = tf.old\n") == 1
    assert "(2 of 4) a.py:3:5: TST001 rename: old is new now\nsafe" in output


def test_quitting_writes_nothing_and_is_taken_up_again() -> None:
    before = bodies()
    for end in ("ynq", "y"):
        result = review(end)
        assert result.exit_code == 1 and bodies() == before and "Nothing written" in result.output
    result = review("n")
    assert "(3 of 4)" not in result.output and "(4 of 4)" in result.output
    assert bodies() == ["x = tf.new\ny = tf.old\n" + LINES, "tf.old\n"]
    assert "(1 of 2)" in review("q").output  # what was declined is asked about again, as that review came to its end


def test_a_program_is_one_question() -> None:
    model, task = write("p/model.py", "def program(): 1\ntf.old\n"), write("p/task.py", "import model\ntf.old\n")
    result = review("dyn")
    assert "new file p/tf2_training.py" in result.output and "that go together with it" in result.output
    assert model.read_text().endswith("tf.old\n") and not Path("p/tf2_training.py").exists()
    review("dyy")
    assert "def migrated" in model.read_text() and "tf.new" in task.read_text() and Path("p/tf2_training.py").exists()


def test_it_can_be_undone() -> None:
    before = bodies()
    review("yyyy")
    assert CliRunner().invoke(cli.cli, ["--undo"], prog_name="migrate").exit_code == 0 and bodies() == before


@pytest.mark.parametrize("arguments", [["--apply"], ["--assess"], ["-"]])
def test_combinations_that_mean_nothing(arguments: list[str]) -> None:
    assert review("", *arguments).exit_code == 2


def test_it_asks_on_a_terminal_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    assert CliRunner().invoke(cli.cli, [".", "--review"], prog_name="migrate").exit_code == 2

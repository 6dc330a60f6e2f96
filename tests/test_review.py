"""Changes accepted and declined one by one."""

from __future__ import annotations

import stat
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from migrator.cli import cli, running
from migrator.engine.registry import Registry

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
        ("?bvyyzyy", "x = tf.new\ny = tf.new\n" + LINES, "tf.new\n"),
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


@pytest.mark.parametrize(
    ("answers", "migrated"), [("yn", [True, False]), ("ny", [False, True]), ("nn", [False, False])]
)
def test_programs_that_share_their_helpers_are_asked_about_alone(answers: str, migrated: list[bool]) -> None:
    paths = [write(f"p/{name}.py", "def program(): 1\ntf.old\n") for name in ("one", "two")]
    result = review("dd" + answers)
    assert result.output.count("new file p/tf2_training.py") == 2
    assert ["def migrated" in path.read_text() for path in paths] == migrated, result.output
    assert ["tf.new" in path.read_text() for path in paths] == migrated
    assert Path("p/tf2_training.py").exists() == any(migrated)


def edits_with(monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    """Let `$EDITOR` be a program that runs this script over the text of its file, with its first line as `head`."""
    editor = Path("..") / "editor.py"
    editor.write_text(
        f"import sys\nname = sys.argv[1]\ntext = open(name).read()\n{script}\nopen(name, 'w').write(text)\n"
    )
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setenv("EDITOR", f"{sys.executable} {editor.resolve()}")


def test_a_change_is_edited_before_it_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    edits_with(monkeypatch, "text = text.replace('y = tf.new', 'y = tf.new  # by hand')")
    result = review("yeyn")
    assert bodies() == ["x = tf.new\ny = tf.new  # by hand\n" + LINES, "tf.old\n"], result.output


def test_edits_outlive_quitting_but_not_going_back(monkeypatch: pytest.MonkeyPatch) -> None:
    edits_with(monkeypatch, "text = text.replace('x = tf.new', 'x = tf.new  # by hand')")
    review("eq")
    assert stat.S_IMODE(next((Path("..") / "state" / "migrate").glob("*.review.json")).stat().st_mode) == 0o600
    review("nnn")
    assert bodies() == ["x = tf.new  # by hand\ny = tf.old\ntf.lines\n", "tf.old\n"]
    write("a.py", "x = tf.old\n")
    review("ebyn")
    assert bodies()[0] == "x = tf.new\n"


@pytest.mark.parametrize(
    ("script", "message"),
    [("text = 'def ('", "not valid Python"), ("sys.exit(3)", "ended with 3"), ("text = '\\0'", "not valid Python")],
)
def test_an_edit_that_fails_asks_again(monkeypatch: pytest.MonkeyPatch, script: str, message: str) -> None:
    edits_with(monkeypatch, script)
    result = review("ennnn")
    assert message in result.output and bodies()[0] == "x = tf.old\ny = tf.old\ntf.lines\n"


def test_an_editor_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VISUAL", "no-such-editor")
    assert "cannot start no-such-editor" in review("enq").output


def test_an_edit_of_lines_that_another_change_rewrites_writes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    edits_with(monkeypatch, "text = text.replace('y = tf.old', 'y = 1')")
    before = bodies()
    result = review("eyyy")
    assert result.exit_code == 2 and "also changed by another fix" in result.output and bodies() == before


def test_line_ends_and_encoding_survive_an_edit(monkeypatch: pytest.MonkeyPatch) -> None:
    edits_with(monkeypatch, "text = text.replace('# \\u00e9', '# \\u00e8')")
    raw = b"# coding: latin-1\r\nimport tensorflow as tf\r\nx = tf.old  # \xe9\r\n"
    Path("a.py").write_bytes(raw)
    review("en")
    assert Path("a.py").read_bytes() == raw.replace(b"old", b"new").replace(b"\xe9", b"\xe8")


def test_a_program_is_split_into_its_changes() -> None:
    Path("b.py").unlink()
    Path("a.py").unlink()
    model, task = write("p/model.py", "def program(): 1\ntf.old\n"), write("p/task.py", "import model\ntf.old\n")
    result = review("sq")
    assert "(1 of 1)" in result.output and "(1 of 3)" in result.output
    assert review("q").output.count("(1 of 3)") == 1  # it stays split
    result = review("yny")
    assert "def migrated" in model.read_text() and "tf.old" in model.read_text() and "tf.new" in task.read_text()


def test_what_is_one_change_is_not_split() -> None:
    result = review("snnnn")
    assert "cannot be split" in result.output and bodies()[1] == "tf.old\n"


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

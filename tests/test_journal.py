"""Taking back the last run."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from migrator.cli import cli
from migrator.engine.registry import Registry
from migrator.write import journal

HEAD = "import tensorflow as tf\n"


@pytest.fixture(autouse=True)
def folder(sample_rules: Registry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty project with a state folder of its own."""
    (tmp_path / "project").mkdir()
    monkeypatch.chdir(tmp_path / "project")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    Path("migrate.toml").write_text('select = ["TST"]\n')


def migrate(*arguments: str) -> Result:
    """Run the command."""
    return CliRunner().invoke(cli.cli, arguments, prog_name="migrate")


def write(name: str, body: str) -> Path:
    """A file that imports TensorFlow."""
    path = Path(name)
    path.parent.mkdir(exist_ok=True)
    path.write_bytes((HEAD + body).encode())
    return path


def files(result: Result) -> list[str]:
    """What an undo that succeeded tells of files."""
    *lines, last = result.output.splitlines()
    assert last.startswith("Taken back: the --apply of 20"), result.output
    return lines


def test_everything_is_put_back() -> None:
    changed, program = write("a.py", "é = tf.old\r\n"), write("p/model.py", "def program(): 1\n")
    changed.chmod(0o640)
    before = changed.read_bytes(), program.read_bytes()
    assert migrate(".", "--apply").exit_code == 0 and Path("p/tf2_training.py").exists()
    result = migrate("--undo")
    assert result.exit_code == 0
    assert files(result) == ["restored a.py", "restored p/model.py", "removed p/tf2_training.py"]
    assert (changed.read_bytes(), program.read_bytes()) == before and not Path("p/tf2_training.py").exists()
    assert stat.S_IMODE(changed.stat().st_mode) == 0o640
    assert migrate("--undo").exit_code == 2


def test_files_that_changed_meanwhile_stay() -> None:
    first, second, third = (write(name, "tf.old\n") for name in ("a.py", "b.py", "c.py"))
    migrate(".", "--apply")
    first.write_text("edited")
    third.unlink()
    result = migrate("--undo")
    assert result.exit_code == 1 and first.read_text() == "edited" and second.read_text() == HEAD + "tf.old\n"
    assert "a.py:1:1: E004 not restored: it has changed since it was written" in result.output
    assert "restored c.py" in result.output
    first.write_text(HEAD + "tf.new\n")
    assert migrate("--undo").exit_code == 0 and first.read_text() == third.read_text() == HEAD + "tf.old\n"


def test_force_takes_back_files_that_changed_meanwhile() -> None:
    path = write("a.py", "tf.old\n")
    migrate(".", "--apply")
    path.write_text("edited")
    assert "`migrate --undo --force` overwrites them all" in migrate("--undo").output and path.read_text() == "edited"
    assert migrate("--undo", "--force").exit_code == 0 and path.read_text() == HEAD + "tf.old\n"
    assert migrate(".", "--force").exit_code == 2


def test_a_second_run_at_work_is_told_in_one_line() -> None:
    path = write("a.py", "tf.old\n")
    for arguments in ((".", "--apply"), ("--undo",)):
        with journal.alone():
            result = migrate(*arguments)
        assert result.exit_code == 2 and result.output.count("\n") == 1 and "is at work" in result.output
    assert path.read_text() == HEAD + "tf.old\n" and migrate(".", "--apply").exit_code == 0


def test_runs_that_write_nothing_keep_the_journal() -> None:
    path = write("a.py", "tf.old\n")
    migrate(".", "--apply")
    migrate(".")
    migrate(".", "--apply")
    assert migrate("--undo").exit_code == 0 and path.read_text() == HEAD + "tf.old\n"


@pytest.mark.parametrize("folder_too", [True, False])
def test_a_file_that_is_gone_is_written_back(folder_too: bool) -> None:
    path = write("p/a.py", "tf.old\n")
    path.chmod(0o750)
    migrate(".", "--apply")
    path.unlink()
    if folder_too:
        path.parent.rmdir()
    result = migrate("--undo")
    assert (result.exit_code, files(result)) == (0, ["restored p/a.py"])
    assert path.read_text() == HEAD + "tf.old\n" and stat.S_IMODE(path.stat().st_mode) == 0o750


def test_a_helper_stays_while_a_file_of_its_program_is_not_restored() -> None:
    program, other = write("p/model.py", "def program(): 1\n"), write("b.py", "tf.old\n")
    before = program.read_text()
    migrate(".", "--apply")
    migrated = program.read_text()
    program.write_text(migrated + "# mine\n")
    result = migrate("--undo")
    assert result.exit_code == 1 and other.read_text() == HEAD + "tf.old\n"
    assert "kept p/tf2_training.py: p/model.py, which was written with it, is not restored" in result.output
    assert Path("p/tf2_training.py").exists() and program.read_text().endswith("# mine\n")
    program.write_text(migrated)
    result = migrate("--undo")
    assert (result.exit_code, files(result)) == (0, ["restored p/model.py", "removed p/tf2_training.py"])
    assert program.read_text() == before and not Path("p/tf2_training.py").exists()


def test_a_run_whose_files_are_refused_keeps_the_journal() -> None:
    first = write("a.py", "tf.old\n")
    migrate("a.py", "--apply")
    second = write("b.py", "tf.old\n")
    second.chmod(0o400)
    result = migrate("b.py", "--apply")
    assert result.exit_code == 1 and "read-only" in result.output
    assert files(migrate("--undo")) == ["restored a.py"] and first.read_text() == HEAD + "tf.old\n"


def test_a_file_that_was_not_written_is_not_taken_back() -> None:
    """Nor by force: it holds what somebody wrote while the run was at work."""
    earlier = write("earlier.py", "tf.old\n")
    migrate("earlier.py", "--apply")
    write("a.py", "tf.old\n")
    refused = write("b.py", "tf.old\n")
    refused.chmod(0o400)
    assert migrate("a.py", "b.py", "--apply").exit_code == 1
    refused.chmod(0o600)
    refused.write_text("mine\n")
    assert files(migrate("--undo", "--force")) == ["restored a.py"] and refused.read_text() == "mine\n"
    assert files(migrate("--undo")) == ["restored earlier.py"] and earlier.read_text() == HEAD + "tf.old\n"


def test_a_first_run_whose_files_are_refused_leaves_no_journal() -> None:
    write("a.py", "tf.old\n").chmod(0o400)
    migrate("a.py", "--apply")
    result = migrate("--undo")
    assert result.exit_code == 2 and "nothing to undo" in result.output


def test_an_interrupted_run_is_noted_as_far_as_it_came(monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = write("a.py", "tf.old\n"), write("b.py", "tf.old\n")
    migrate("a.py", "--apply")

    def interrupted(*arguments: object) -> None:
        raise KeyboardInterrupt

    def written_then_interrupted(*arguments: object) -> None:
        second.write_text(HEAD + "tf.new\n")
        raise KeyboardInterrupt

    monkeypatch.setattr("migrator.write.writing.write_groups", interrupted)
    assert migrate("b.py", "--apply").exit_code == 130
    assert "a.py" in journal.place().read_text()
    monkeypatch.setattr("migrator.write.writing.write_groups", written_then_interrupted)
    assert migrate("b.py", "--apply").exit_code == 130
    assert files(migrate("--undo")) == ["restored b.py"] and first.read_text() == HEAD + "tf.new\n"


def interrupting(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let Ctrl-C come with each file that is written in the current folder."""
    replace = os.replace

    def interrupted(source: str, target: str) -> None:
        if os.path.dirname(target) == os.getcwd():
            os.kill(os.getpid(), signal.SIGINT)
        replace(source, target)

    monkeypatch.setattr(os, "replace", interrupted)


def test_ctrl_c_while_files_are_written_says_which_and_how_to_go_back(monkeypatch: pytest.MonkeyPatch) -> None:
    paths = [write("a.py", "tf.old\n"), write("b.py", "tf.old\n")]
    with monkeypatch.context() as patched:
        interrupting(patched)
        result = migrate(".", "--apply")
    assert result.exit_code == 130 and result.output == (
        "\nInterrupted. These files were written, each as a whole:\n  a.py\n  b.py\n"
        "`migrate --undo`, from this folder, takes it back.\n"
    )
    assert [path.read_text() for path in paths] == [HEAD + "tf.new\n"] * 2
    assert files(migrate("--undo")) == ["restored a.py", "restored b.py"]


def test_ctrl_c_while_the_report_is_shown_says_what_was_written(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*arguments: object) -> None:
        raise KeyboardInterrupt

    write("a.py", "tf.old\n")
    monkeypatch.setattr("migrator.cli.showing.Shown.show", interrupted)
    result = migrate(".", "--apply")
    assert result.exit_code == 130 and "These files were written, each as a whole:\n  a.py\n" in result.output
    assert migrate(".").exit_code == 130  # a run that writes nothing has nothing to tell


def test_ctrl_c_before_files_are_written_leaves_nothing_to_tell(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*arguments: object) -> None:
        raise KeyboardInterrupt

    path = write("a.py", "tf.old\n")
    monkeypatch.setattr("migrator.write.writing._write_beside", interrupted)
    result = migrate(".", "--apply")
    assert result.exit_code == 130 and result.output == "\nInterrupted. No file was left half written.\n"
    assert path.read_text() == HEAD + "tf.old\n" and migrate("--undo").exit_code == 2


def test_an_undo_goes_on_after_ctrl_c(monkeypatch: pytest.MonkeyPatch) -> None:
    paths = [write("a.py", "tf.old\n"), write("b.py", "tf.old\n")]
    migrate(".", "--apply")
    with monkeypatch.context() as patched:
        interrupting(patched)
        result = migrate("--undo")
    assert result.exit_code == 130 and "Once more, --undo goes on" in result.output
    assert sorted(path.read_text() for path in paths) == [HEAD + "tf.new\n", HEAD + "tf.old\n"]
    assert files(migrate("--undo")) == ["restored b.py"]
    assert [path.read_text() for path in paths] == [HEAD + "tf.old\n"] * 2


def test_an_undo_with_nothing_to_restore_says_so() -> None:
    path = write("a.py", "tf.old\n")
    migrate(".", "--apply")
    path.write_text(HEAD + "tf.old\n")
    result = migrate("--undo")
    assert result.exit_code == 0 and result.output.startswith("nothing to restore: all files are as they were")


def test_each_folder_has_its_own_journal(monkeypatch: pytest.MonkeyPatch) -> None:
    write("sub/a.py", "tf.old\n")
    migrate(".", "--apply")
    monkeypatch.chdir("sub")
    result = migrate("--undo")
    assert result.exit_code == 2 and "nothing to undo" in result.output


def test_a_folder_that_was_migrated_from_here_is_named() -> None:
    write("sub/a.py", "tf.old\n")
    migrate("sub", "--apply")
    result = migrate("--undo", "sub")
    assert result.exit_code == 2 and "one was run from this folder: `migrate --undo`" in " ".join(result.output.split())


@pytest.mark.parametrize("name", ["project/sub", "project/other"])
def test_from_another_folder_the_command_is_named(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write("sub/a.py", "tf.old\n").resolve()
    migrate(".", "--apply")
    (tmp_path / name).mkdir(exist_ok=True)
    monkeypatch.chdir(tmp_path / name)
    assert f"`migrate --undo {tmp_path / 'project'}`" in migrate("--undo").output
    result = migrate("--undo", str(tmp_path / "project"))
    assert result.exit_code == 0 and path.read_text() == HEAD + "tf.old\n"
    assert "migrate --undo" not in migrate("--undo").output  # it is undone


def test_a_folder_elsewhere_is_not_proposed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write("sub/a.py", "tf.old\n")
    migrate(".", "--apply")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    (journal.place().parent / "x.review.json").write_text("{}")
    (journal.place().parent / "y.json").write_text("[")
    assert "around here" not in migrate("--undo").output


def test_only_the_user_may_read_it() -> None:
    write("a.py", "tf.old\n")
    migrate(".", "--apply")
    assert stat.S_IMODE(journal.place().stat().st_mode) == 0o600
    assert stat.S_IMODE(journal.place().parent.stat().st_mode) == 0o700


def test_without_a_journal_nothing_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", os.devnull)
    path = write("a.py", "tf.old\n")
    result = migrate(".", "--apply")
    assert result.exit_code == 2 and path.read_text() == HEAD + "tf.old\n"
    assert "git has no copy of these files:\n  a.py\n" in result.output and "Nothing written." in result.output
    result = migrate(".", "--apply", "--allow-dirty")
    assert result.exit_code == 0 and "cannot take this run back" in result.output
    assert path.read_text() == HEAD + "tf.new\n"


def test_without_a_journal_files_that_git_has_are_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", os.devnull)
    kept, ignored = write("a.py", "tf.old\n"), write("out/b.py", "tf.old\n")
    Path(".gitignore").write_text("out\n")
    user = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"]
    for arguments in (["init", "-q"], ["add", "."], [*user, "commit", "-qm", "all"]):
        subprocess.run(["git", *arguments], check=True, capture_output=True)
    result = migrate(".", "--apply")
    assert result.exit_code == 0 and "cannot take this run back" in result.output
    assert kept.read_text() == HEAD + "tf.new\n"
    result = migrate("out", "--apply")
    assert result.exit_code == 2 and "  out/b.py\n" in result.output and ignored.read_text() == HEAD + "tf.old\n"


def test_a_user_without_a_home_has_no_journal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("XDG_STATE_HOME")
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)
    path = write("a.py", "tf.old\n")
    result = migrate(".", "--apply")
    assert result.exit_code == 2 and "set HOME or XDG_STATE_HOME" in result.output
    assert path.read_text() == HEAD + "tf.old\n" and not Path("~").exists()
    assert migrate("--undo").exit_code == 2


@pytest.mark.parametrize(
    "content",
    ["", "[]", '{"version": 99}', '{"version": 3, "folder": "."}', '{"version": 3, "folder": ".", "runs": []}'],
)
def test_a_broken_journal_is_an_error(content: str) -> None:
    journal.place().parent.mkdir(parents=True)
    journal.place().write_text(content)
    result = migrate("--undo")
    assert result.exit_code == 2 and str(journal.place()) in result.output.replace("\n", "")
    path = write("a.py", "tf.old\n")
    assert migrate("a.py", "--apply").exit_code == 0
    assert journal.place().with_suffix(".unread").read_text() == content
    assert files(migrate("--undo")) == ["restored a.py"] and path.read_text() == HEAD + "tf.old\n"


def test_a_broken_file_of_a_run_keeps_all_others_unwritten() -> None:
    path = write("a.py", "tf.old\n")
    write("b.py", "tf.old\n")
    migrate(".", "--apply")
    content = json.loads(journal.place().read_text())
    del content["runs"][0]["files"][1]["before"]
    journal.place().write_text(json.dumps(content))
    result = migrate("--undo")
    assert result.exit_code == 2 and "'before' is missing" in result.output and path.read_text() == HEAD + "tf.new\n"


def test_runs_are_taken_back_one_by_one() -> None:
    first, second = write("a.py", "tf.old\n"), write("b.py", "tf.old\n")
    migrate("a.py", "--apply")
    migrate("b.py", "--apply")
    result = migrate("--undo")
    assert files(result) == ["restored b.py"] and "1 earlier is left (`migrate --undo`)" in result.output
    assert first.read_text() == HEAD + "tf.new\n" and second.read_text() == HEAD + "tf.old\n"
    result = migrate("--undo")
    assert files(result) == ["restored a.py"] and "No earlier one is left" in result.output
    assert first.read_text() == second.read_text() == HEAD + "tf.old\n"
    result = migrate("--undo")
    assert result.exit_code == 2 and "nothing to undo" in result.output and not journal.place().exists()


def test_a_file_that_two_runs_wrote_goes_back_step_by_step() -> None:
    path = write("a.py", "tf.old\n")
    migrate("a.py", "--apply")
    between = HEAD + "tf.new\ntf.old\n"
    path.write_text(between)
    migrate("a.py", "--apply")
    assert files(migrate("--undo")) == ["restored a.py"] and path.read_text() == between
    result = migrate("--undo")
    assert (
        result.exit_code == 1 and "it has changed since it was written" in result.output and path.read_text() == between
    )
    path.unlink()
    assert files(migrate("--undo")) == ["restored a.py"] and path.read_text() == HEAD + "tf.old\n"
    assert migrate("--undo").exit_code == 2


def test_an_edited_file_keeps_its_run_the_last() -> None:
    first, second = write("a.py", "tf.old\n"), write("b.py", "tf.old\n")
    migrate("a.py", "--apply")
    migrate("b.py", "--apply")
    second.write_text("edited")
    for _ in range(2):
        result = migrate("--undo")
        assert result.exit_code == 1 and "b.py:1:1: E004 not restored" in result.output
        assert "A file that you move away is restored" in " ".join(result.output.split())
        assert first.read_text() == HEAD + "tf.new\n" and second.read_text() == "edited"
    second.unlink()
    assert files(migrate("--undo")) == ["restored b.py"] and files(migrate("--undo")) == ["restored a.py"]
    assert first.read_text() == second.read_text() == HEAD + "tf.old\n"


def test_a_journal_of_one_run_is_read_and_kept_below_the_next() -> None:
    first, second = write("a.py", "tf.old\n"), write("b.py", "tf.old\n")
    migrate("a.py", "--apply")
    content = json.loads(journal.place().read_text())
    (run,) = content["runs"]
    old = {"version": 2, "folder": content["folder"], "files": run["files"]}
    journal.place().write_text(json.dumps(old))
    migrate("b.py", "--apply")
    assert files(migrate("--undo")) == ["restored b.py"] and files(migrate("--undo")) == ["restored a.py"]
    journal.place().write_text(json.dumps(old))
    first.write_text(HEAD + "tf.new\n")
    assert files(migrate("--undo")) == ["restored a.py"]
    assert first.read_text() == second.read_text() == HEAD + "tf.old\n"


@pytest.mark.parametrize("arguments", [["--undo", "a.py"], ["--undo", "--apply"], []])
def test_undo_stands_alone(arguments: list[str]) -> None:
    assert migrate(*arguments).exit_code == 2

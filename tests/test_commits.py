"""A commit for each rule."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from migrator.cli import cli
from migrator.engine.registry import Registry

HEAD = "import tensorflow as tf\n"


@pytest.fixture(autouse=True)
def repository(sample_rules: Registry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A repository with one commit."""
    monkeypatch.chdir(tmp_path)
    for name in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{name}_NAME", "t")
        monkeypatch.setenv(f"GIT_{name}_EMAIL", "t@example.org")
    Path("migrate.toml").write_text('select = ["TST"]\n')
    Path("model.py").write_text(HEAD + "def program(): 1\nx = tf.old\ntf.lines\n")
    Path("other.py").write_text(HEAD + "y = tf.old\n")
    git("init", "-q")
    git("add", ".")
    git("commit", "-qm", "start")


def git(*arguments: str) -> str:
    """What git prints."""
    return subprocess.run(["git", *arguments], check=True, capture_output=True, text=True).stdout


def migrate(*arguments: str) -> Result:
    """Run the command."""
    return CliRunner().invoke(cli.cli, arguments, prog_name="migrate")


def test_each_rule_has_its_commit() -> None:
    result = migrate(".", "--apply", "--commit-per-rule")
    assert result.exit_code == 0, result.output
    assert git("log", "--format=%s", "--reverse").splitlines() == [
        "start",
        "Rename `tf.old` to `tf.new` (TST001)",
        "Insert lines before `tf.lines` (TST005)",
        "Rewrite ``def program`` in every module at once, with the helper file beside the first (TST200)",
    ]
    assert git("show", "HEAD~2", "--stat", "--format=%b").split("\n")[0] == "2 changes by `migrate`."
    assert git("show", "HEAD~2:model.py") == HEAD + "def program(): 1\nx = tf.new\ntf.lines\n"
    assert git("show", "HEAD:model.py") == Path("model.py").read_text()
    assert Path("model.py").read_text() == HEAD + "def migrated(): 1\nx = tf.new\n# one\n# two\ntf.placed\n"
    assert git("status", "--porcelain") == "" and "tf2_training.py" in git("ls-files")
    assert "wrote other.py: 1 change" in result.output and "`git log -p`" in result.output


def test_the_end_is_the_same_as_without_commits() -> None:
    migrate(".", "--apply", "--commit-per-rule")
    with_commits = {path.name: path.read_bytes() for path in Path().glob("*.py")}
    git("reset", "-q", "--hard", "HEAD~3")
    migrate(".", "--apply")
    assert {path.name: path.read_bytes() for path in Path().glob("*.py")} == with_commits


def test_what_is_staged_stays_out_of_the_commits() -> None:
    Path("notes.txt").write_text("mine")
    git("add", "notes.txt")
    assert migrate(".", "--apply", "--commit-per-rule").exit_code == 0
    assert git("status", "--porcelain") == "A  notes.txt\n"


def test_nothing_to_do_makes_no_commit() -> None:
    migrate(".", "--apply", "--commit-per-rule")
    before = git("rev-parse", "HEAD")
    assert migrate(".", "--apply", "--commit-per-rule").exit_code == 0 and git("rev-parse", "HEAD") == before


def test_a_refusal_of_git_is_told() -> None:
    hook = Path(".git/hooks/pre-commit")
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\necho no rights >&2\nexit 1\n")
    hook.chmod(0o755)
    result = migrate(".", "--apply", "--commit-per-rule")
    assert result.exit_code == 2 and "git commit failed" in result.output and "no rights" in result.output
    assert "migrate --undo" in result.output and git("diff", "--cached", "--name-only") == ""
    assert git("diff", "--name-only").split() == ["model.py", "other.py"]  # what the first rule changes
    assert migrate("--undo").exit_code == 0 and git("status", "--porcelain") == ""


def test_a_refusal_of_a_later_commit_keeps_those_before() -> None:
    hook = Path(".git/hooks/commit-msg")
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\n! grep -q TST005 $1\n")
    hook.chmod(0o755)
    assert migrate(".", "--apply", "--commit-per-rule").exit_code == 2
    assert git("log", "--format=%s").count("\n") == 2 and git("diff", "--name-only").split() == ["model.py"]
    assert migrate("--undo").exit_code == 0
    assert git("diff", "HEAD~1", "--stat") == "" and "tf.new" in git("show", "HEAD:model.py")


def test_files_outside_of_git_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".git").rename(tmp_path / "elsewhere")
    result = migrate(".", "--apply", "--commit-per-rule")
    assert result.exit_code == 2 and "in one git repository" in result.output
    assert "tf.old" in Path("model.py").read_text()


def test_files_that_git_does_not_have_as_they_are_are_refused() -> None:
    Path("other.py").write_text(HEAD + "y = tf.old  # edited\n")
    assert migrate(".", "--apply", "--commit-per-rule").exit_code == 2


@pytest.mark.parametrize("arguments", [["."], [".", "--apply", "--allow-dirty"], ["-", "--apply"]])
def test_combinations_that_mean_nothing(arguments: list[str]) -> None:
    result = migrate(*arguments, "--commit-per-rule")
    assert result.exit_code == 2 and "--commit-per-rule goes with" in result.output


def test_what_cannot_be_written_is_left_out() -> None:
    Path("p").mkdir()
    free = Path("p/model.py")
    free.write_text(HEAD + "def program(): 1\ntf.old\n")
    git("add", ".")
    git("commit", "-qm", "another program")
    Path("model.py").chmod(0o444)
    result = migrate(".", "--apply", "--commit-per-rule")
    assert result.exit_code == 1 and "model.py:1:1: E004 not written: it is read-only" in result.output
    assert "tf.old" in Path("model.py").read_text() and free.read_text() == HEAD + "def migrated(): 1\ntf.new\n"
    assert git("status", "--porcelain") == "" and git("log", "--format=%s").count("TST") == 2


def test_ctrl_c_between_commits_says_what_was_written(monkeypatch: pytest.MonkeyPatch) -> None:
    run = subprocess.run

    def interrupted(command: list[str], **options: object) -> object:
        done = run(command, **options)  # type: ignore[call-overload]
        if "commit" in command:
            os.kill(os.getpid(), signal.SIGINT)
        return done

    monkeypatch.setattr(subprocess, "run", interrupted)
    result = migrate(".", "--apply", "--commit-per-rule")
    monkeypatch.undo()
    assert result.exit_code == 130 and "These files were written, each as a whole:\n  model.py\n" in result.output

"""The command: what it prints, what it writes, and its exit status."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest
from cli_tools import HEAD, invoke, process, write
from click.shell_completion import BashComplete

from migrator import __version__
from migrator.cli import cli
from migrator.cli.terminal import EXIT_ABNORMAL, EXIT_DONE, EXIT_LEFT
from migrator.engine.registry import Registry
from migrator.report import closing
from migrator.vocabulary.diagnostics import Outcome

pytestmark = pytest.mark.usefixtures("sample_folder")


# -- dry run ----------------------------------------------------------------------------------------------------------


def test_shows_a_diff_and_writes_nothing(sample_rules: Registry) -> None:
    path = write("pkg/a.py", "x = tf.old\ntf.risky\ntf.gone.x\ntf.note\n")
    before = path.stat().st_ino, path.stat().st_mtime_ns  # reading it may change the access time
    result = invoke("pkg")
    assert result.exit_code == EXIT_LEFT
    assert result.output == (
        "--- a/pkg/a.py\n+++ b/pkg/a.py\n@@ -1,5 +1,5 @@\n"
        " import tensorflow as tf\n-x = tf.old\n+x = tf.new\n tf.risky\n tf.gone.x\n tf.note\n"
        "\nNotes\npkg/a.py:5:1: TST004 worth knowing\n"
        "\nLeft to you\npkg/a.py:3:1: TST002 risky is bold now [--unsafe applies it]\n"
        "pkg/a.py:4:1: TST003 tensorflow.gone.x is gone\n"
        "\n1 file: 1 change, 1 unsafe (--unsafe), 1 needs you. Nothing written; --apply writes.\n"
        "Next: --review asks about each change; `migrate explain TST002` says what to do about what is left.\n"
    )
    assert (path.stat().st_ino, path.stat().st_mtime_ns) == before and sorted(os.listdir("pkg")) == ["a.py"]


def test_nothing_to_do_is_success(sample_rules: Registry) -> None:
    write("a.py", "tf.fine\ntf.note\n")
    result = invoke("a.py", "-q")
    assert result.exit_code == EXIT_DONE and result.output.endswith("1 file: 0 changes.\n")


@pytest.mark.parametrize(("body", "code"), [("tf.old\n", 1), ("tf.gone.x\n", 1), ("def (\n", 1), ("tf.note\n", 0)])
def test_exit_status_of_a_dry_run(sample_rules: Registry, body: str, code: int) -> None:
    write("a.py", body)
    assert invoke(".").exit_code == code


def test_the_diff_can_be_applied(sample_rules: Registry) -> None:
    write("a.py", "x = tf.old")
    Path("b.py").write_bytes(b"import tensorflow as tf\r\nx = '\xc3\xa9'\r\ntf.lines\r\ntf.gone.x")
    expected = process("b.py", "--apply", "--select", "TST004")
    diff = process(".").stdout
    subprocess.run(["git", "apply", "--whitespace=nowarn", "-"], input=diff, check=True)
    assert expected.returncode == 0
    assert Path("a.py").read_bytes() == HEAD.encode() + b"x = tf.new"
    assert Path("b.py").read_bytes().endswith(b"'\r\n# one\r\n# two\r\ntf.placed\r\ntf.gone.x")


def test_programs_are_listed_with_their_tier(sample_rules: Registry) -> None:
    write("p/model.py", "def program(): 1\n")
    write("q/model.py", "def stuck_program(): 1\n")
    output = invoke(".", "-q").output
    assert "p/model.py:2:1: program sample: native\n" in output
    assert "q/model.py:2:1: program stuck: manual: line 1 is too hard\n" in output
    assert "2 files: 1 of 2 programs migrated (1 native, 1 manual), 1 change. Nothing written" in output


def test_new_files_are_named_only() -> None:
    created = Outcome("tf2_training.py", "created", b"", b"import x\nimport y\n")
    lines = [line.text for line in closing.report([created])]
    assert lines[0] == "new file tf2_training.py: 2 lines (shown with -v)" and "+import x" not in lines
    assert "\n+import x\n" in next(iter(closing.report([created], 1))).text


def test_quiet_and_verbose(sample_rules: Registry) -> None:
    write("a.py", "tf.old\n")
    assert "+tf.new" not in invoke("a.py", "-q").output
    assert "a.py:2:1: TST001 changed: old is new now" in invoke("a.py", "-v").output


def test_options_select_rules(sample_rules: Registry) -> None:
    write("a.py", "tf.old\ntf.gone.x\n")
    assert "TST003" not in invoke("a.py", "--select", "TST001,TST002").output
    assert "TST003" not in invoke("a.py", "--ignore", "tst003").output
    assert "0 changes" in invoke("a.py", "--ignore", "TST001", "--ignore", "TST003").output


def test_exclude(sample_rules: Registry) -> None:
    write("a.py", "tf.old\n")
    write("legacy/b.py", "tf.old\n")
    assert "1 file: 1 change" in invoke(".", "--exclude", "legacy,*_pb2.py").output


# -- apply ------------------------------------------------------------------------------------------------------------


def test_apply_writes_and_then_nothing_is_left(sample_rules: Registry) -> None:
    path = write("a.py", "x = tf.old\n")
    result = invoke(".", "--apply")
    assert result.exit_code == EXIT_DONE
    assert result.output.startswith(
        "wrote a.py: 1 change, 1 line added, 1 removed\n\n1 file: 1 change. 1 file written.\n"
    )
    assert result.output.splitlines()[-1].startswith("Next: `migrate --undo`, from this folder, takes it back")
    assert path.read_text() == HEAD + "x = tf.new\n"
    again = invoke(".", "--apply")
    assert again.exit_code == EXIT_DONE and again.output.endswith("1 file: 0 changes. Nothing to write.\n")


def test_apply_lists_files_and_shows_the_diff_on_request(sample_rules: Registry) -> None:
    write("p/model.py", "def program(): 1\n")
    output = invoke("p", "--apply").output
    lines = Path("p/tf2_training.py").read_text().count("\n")
    wrote = ["wrote p/model.py: 1 change, 1 line added, 1 removed", f"wrote p/tf2_training.py: new, {lines} lines"]
    assert output.splitlines()[:2] == wrote and "+def" not in output
    for option, shown in (("-v", True), ("-q", False)):
        write("a.py", "tf.old\n")
        output = invoke("a.py", "--apply", option).output
        assert ("+tf.new" in output) == shown and "wrote" not in output


def test_programs_are_named_by_their_lines_in_the_new_file(sample_rules: Registry) -> None:
    write("a.py", "tf.lines\n\n\ndef program(): 1\n")
    assert "\na.py:5:1: program sample: native\n" in invoke(".").output
    assert "\na.py:7:1: program sample: native\n" in invoke(".", "--apply").output


def test_a_folder_without_programs_says_so(sample_rules: Registry) -> None:
    Path("empty").mkdir()
    result = invoke("empty")
    assert result.exit_code == EXIT_DONE and "No Python file or notebook is there" in result.output


def test_apply_creates_helper_files(sample_rules: Registry) -> None:
    write("p/model.py", "def program(): 1\n")
    write("p/task.py", "import model\ndef program(): 2\n")
    assert invoke("p", "--apply").exit_code == EXIT_DONE
    assert "def migrated" in Path("p/model.py").read_text() and "def migrated" in Path("p/task.py").read_text()
    assert sorted(os.listdir("p")) == ["model.py", "task.py", "tf2_training.py"]


def test_what_is_left_after_apply_is_placed_in_the_new_file(sample_rules: Registry) -> None:
    write("a.py", "tf.lines\ntf.gone.x\n")
    result = invoke("a.py", "--apply")
    assert result.exit_code == EXIT_LEFT and "a.py:5:1: TST003" in result.output


def test_unsafe_is_applied_on_request_only(sample_rules: Registry) -> None:
    path = write("a.py", "tf.risky\n")
    assert invoke("a.py", "--apply").exit_code == EXIT_LEFT and path.read_text() == HEAD + "tf.risky\n"
    assert invoke("a.py", "--apply", "--unsafe").exit_code == EXIT_DONE and path.read_text() == HEAD + "tf.bold\n"


def test_a_bad_file_stays_and_the_others_are_written(sample_rules: Registry) -> None:
    bad, good = write("bad.py", "print 'x'\n"), write("good.py", "tf.old\n")
    result = invoke(".", "--apply")
    assert result.exit_code == EXIT_LEFT and "E001 this looks like Python 2" in result.output
    assert "1 could not be processed" in result.output
    assert bad.read_text() == HEAD + "print 'x'\n" and good.read_text() == HEAD + "tf.new\n"


def test_a_program_that_cannot_be_written_is_not_counted_as_migrated(sample_rules: Registry) -> None:
    write("p/model.py", "def program(): 1\n")
    task = write("p/task.py", "import model\ntf.old\n")
    write("q/other.py", "def program(): 1\n")
    task.chmod(0o444)
    result = invoke(".", "--apply")
    assert result.exit_code == EXIT_LEFT and "1 of 2 programs migrated (1 native, 1 manual)" in result.output
    assert "p/task.py:1:1: E004 not written: it is read-only; nor were p/model.py" in result.output
    assert "manual: p/task.py was not written (could become native)" in result.output
    assert "def program(): 1" in Path("p/model.py").read_text() and "migrated" in Path("q/other.py").read_text()


def test_a_program_that_cannot_be_written_keeps_no_other_from_it(sample_rules: Registry) -> None:
    locked, free = write("a.py", "def program(): 1\n"), write("b.py", "def program(): 1\n")
    locked.chmod(0o444)
    result = invoke(".", "--apply")
    assert result.exit_code == EXIT_LEFT
    assert "a.py:1:1: E004 not written: it is read-only\n" in result.output
    assert "a.py:2:1: program sample: manual: a.py was not written" in result.output
    assert "b.py:2:1: program sample: native" in result.output
    assert "def program" in locked.read_text() and "def migrated" in free.read_text()
    assert Path("tf2_training.py").exists()
    assert invoke("--undo").exit_code == 0 and "def program" in free.read_text()


def test_apply_refuses_files_that_git_cannot_bring_back(sample_rules: Registry) -> None:
    path = write("a.py", "tf.old\n")
    git = ["git", "-c", "user.name=t", "-c", "user.email=t@example.org"]
    subprocess.run([*git, "init", "-q"], check=True)
    result = invoke(".", "--apply")
    assert result.exit_code == EXIT_ABNORMAL and "  a.py\n" in result.stderr and "--allow-dirty" in result.stderr
    assert path.read_text() == HEAD + "tf.old\n"
    subprocess.run([*git, "add", "."], check=True)
    subprocess.run([*git, "commit", "-qm", "x"], check=True)
    write("other.py", "tf.fine\n")  # dirty, but not to be changed
    assert invoke(".", "--apply").exit_code == EXIT_DONE
    write("a.py", "tf.old # edited\n")
    assert invoke(".", "--apply").exit_code == EXIT_ABNORMAL
    assert invoke(".", "--apply", "--allow-dirty").exit_code == EXIT_DONE
    assert path.read_text() == HEAD + "tf.new # edited\n"


# -- standard input ---------------------------------------------------------------------------------------------------


def test_standard_input(sample_rules: Registry) -> None:
    raw = b"import tensorflow as tf\r\nx = '\xc3\xa9', tf.old\r\n"
    dry = invoke("-", stdin=raw)
    assert dry.exit_code == EXIT_LEFT and "--- a/<stdin>\n" in dry.output and "+x = 'é', tf.new" in dry.output
    applied = invoke("--apply", "-", stdin=raw)
    assert applied.exit_code == EXIT_DONE and applied.stdout_bytes == raw.replace(b"old", b"new")


def test_no_next_step_needs_a_file_that_standard_input_is_not(sample_rules: Registry) -> None:
    result = invoke("-", stdin=(HEAD + "def program(): 1\n").encode())
    assert "1 of 1 program migrated" in result.output and "migrate parity" not in result.output
    assert "--review" not in result.output


def test_standard_input_that_cannot_be_parsed_comes_back_as_it_was(sample_rules: Registry) -> None:
    raw = b"import tensorflow\nprint 'x'\n"
    result = invoke("--apply", "-", "--stdin-filename", "x.py", stdin=raw)
    assert (
        result.exit_code == EXIT_LEFT
        and result.stdout_bytes == raw
        and "E001" in result.stderr
        and result.stderr.startswith("x.py:2:")
    )


def test_standard_input_with_a_helper_file_says_so(sample_rules: Registry) -> None:
    result = invoke("--apply", "-", "--stdin-filename", "p/model.py", stdin=b"def program(): 1\n")
    assert result.exit_code == EXIT_LEFT and result.stdout_bytes == b"def migrated(): 1\n"
    assert "p/tf2_training.py" in result.stderr and not Path("p").exists()


def test_a_named_pipe_is_not_read(sample_rules: Registry) -> None:
    os.mkfifo("pipe.py")
    result = invoke("pipe.py")
    assert result.exit_code == EXIT_LEFT and "pipe.py:1:1: E004 cannot read: not a regular file" in result.output


# -- usage ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["none.py"], "migrate: no such file or directory: none.py"),
        (["b.py"], "no such file or directory: b.py; did you mean a.py?"),
        (["dangling.py"], "migrate: dangling.py is a dangling link: there is no nowhere.py\n"),
        (["a" * 300], f"migrate: cannot read {'a' * 300}: File name too long\n"),
        (["a.py", "-o", "a.py"], "a.py is the name of a program; the report would be written over it"),
        (["a.py", "--format", "html", "-o", "new.ipynb"], "new.ipynb is the name of a program"),
        (["chekpoint", "a.py"], "chekpoint; did you mean `migrate checkpoint`?"),
        (["explian", "E001"], "no such file or directory: explian, E001; did you mean `migrate explain`?"),
        (["a.py", "-"], "- stands alone"),
        (["a.py", "--select", "EST-1"], "EST-1 is no code"),
        (["a.py", "--ignore", "ETS1"], "ETS1 is no code"),
        (["a.py", "--select", "rename"], "RENAME is no code, or prefix of codes, of any rule; did you mean TST001"),
        (["a.py", "--select", "TST9"], "TST9 is no code"),
        (["a.py", "--nonsense"], "No such option"),
        (["a.py", "-j", "-3"], "-3"),
        (["explain", "TST0001"], "did you mean TST001"),
        (["explain", "progr"], "did you mean TST200"),
        (["explain"], "Missing argument"),
        (["--apply"], "Missing argument"),
    ],
)
def test_mistakes_are_status_2(sample_rules: Registry, arguments: list[str], message: str) -> None:
    write("a.py", "tf.old\n")
    os.symlink("nowhere.py", "dangling.py")
    result = invoke(*arguments)
    assert result.exit_code == EXIT_ABNORMAL and message in result.stderr and result.stdout == ""


def test_bad_settings_are_status_2(sample_rules: Registry) -> None:
    Path("pyproject.toml").write_text("[tool.migrate]\nselct = []\n")
    write("a.py", "tf.old\n")
    result = invoke("a.py")
    assert result.exit_code == EXIT_ABNORMAL and "did you mean select?" in result.stderr


def test_usage_errors_name_the_command_as_it_is_called(sample_rules: Registry) -> None:
    result = invoke("--nonsense")
    assert result.exit_code == EXIT_ABNORMAL
    assert "Usage: migrate [OPTIONS] PATH..." in result.stderr


def test_no_arguments_print_the_help() -> None:
    result = invoke()
    assert result.exit_code == EXIT_ABNORMAL and "--apply" in result.output and "migrate explain CODE" in result.output


@pytest.mark.parametrize("arguments", [["--help"], ["-h"], ["a.py", "--help"], ["rules", "-h"], ["explain", "-h"]])
def test_help(arguments: list[str]) -> None:
    result = invoke(*arguments)
    assert result.exit_code == 0 and result.output.startswith("Usage: migrate")


def test_version() -> None:
    assert invoke("--version").output == f"migrate, version {__version__}\n"


def test_a_path_named_like_a_command(sample_rules: Registry) -> None:
    write("rules/a.py", "tf.old\n")
    assert "TST001  rename" in invoke("rules").output
    assert "rules/a.py" in invoke("./rules").output
    assert "rules/a.py" in invoke("--apply", "rules").output
    assert Path("rules/a.py").read_text() == HEAD + "tf.new\n"


def test_rules_are_listed(sample_rules: Registry) -> None:
    lines = invoke("rules").output.splitlines()
    assert lines == sorted(lines) and any(
        re.match(r"TST001  rename +Rename `tf.old` to `tf.new`.$", line) for line in lines
    )


def test_a_prefix_lists_rules(sample_rules: Registry) -> None:
    listed = invoke("rules", "TST00").output.splitlines()
    assert {line.split()[0] for line in listed} > {"TST001", "TST003"} and all(
        line.startswith("TST00") for line in listed
    )
    assert invoke("explain", "tst00").output.splitlines() == [*listed, "", "`migrate explain TST001` explains one."]
    assert invoke("explain", "E00").output.startswith("E001") and "EST" not in invoke("rules", "E00").output
    assert invoke("rules", "TST9").exit_code == EXIT_ABNORMAL and invoke("explain", "").exit_code == EXIT_ABNORMAL


def test_explain(sample_rules: Registry) -> None:
    for name in ("TST001", "tst001", "rename"):
        assert "## What it does\nRenames." in invoke("explain", name).output
    assert "Python 2" in invoke("explain", "E001").output


def completed(words: str) -> list[str]:
    """What the shell is told when TAB is pressed after these words."""
    given = words.split(" ")
    found = BashComplete(cli.cli, {}, "migrate", "_MIGRATE_COMPLETE").get_completions(given[1:-1], given[-1])
    return [f"{item.type},{item.value}" for item in found]


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("migrate --ap", ["plain,--apply"]),
        ("migrate --vers", ["plain,--version"]),
        ("migrate --apply --und", ["plain,--undo"]),
        ("migrate trainer --ap", ["plain,--apply"]),
        ("migrate trainer --format js", ["plain,json"]),
        ("migrate parity --old-p", ["plain,--old-python"]),
        ("migrate pari", ["plain,parity", "file,pari"]),
        ("migrate trai", ["file,trai"]),
        ("migrate --apply trai", ["file,trai"]),
        ("migrate --output rep", ["file,rep"]),
        ("migrate explain tst00", [f"plain,TST00{number}" for number in range(1, 6)]),
        ("migrate --select TST001,TST10", [f"plain,TST001,TST10{number}" for number in range(1, 8)]),
    ],
)
def test_words_are_completed(sample_rules: Registry, words: str, offered: list[str]) -> None:
    assert completed(words) == offered


def test_a_shell_asks_for_completions() -> None:
    environment = {"_MIGRATE_COMPLETE": "bash_complete", "COMP_WORDS": "migrate --ap", "COMP_CWORD": "1"}
    assert process(env=environment).stdout == b"plain,--apply\n"

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Callable

import pytest
from click.testing import CliRunner

from migrator.parity.command import _interpreter, parity

PROGRAMS = Path(__file__).parent / "programs"


def run(*args: str) -> tuple[int, str]:
    result = CliRunner().invoke(parity, list(args), catch_exceptions=False)
    return result.exit_code, result.output


def test_help_says_the_exit_codes() -> None:
    code, output = run("--help")
    assert code == 0 and "1 if something differs" in output


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("none.py",), "none.py: no such file or folder"),
        ((str(PROGRAMS),), "Give --entry FILE or -m MODULE"),
        ((str(PROGRAMS / "old.py"), str(PROGRAMS / "new.py"), str(PROGRAMS)), "give one program, two programs"),
        ((str(PROGRAMS / "old.py"), str(PROGRAMS / "new.py"), "--since", "HEAD"), "--since goes with one program"),
    ],
)
def test_what_cannot_be_run_exits_with_2(args: tuple[str, ...], message: str) -> None:
    code, output = run("-q", *args)
    assert code == 2 and message in output


@pytest.mark.parametrize("option", ["--rtol", "--atol"])
@pytest.mark.parametrize("value", ["nan", "-1", "inf"])
def test_a_tolerance_is_a_number(option: str, value: str) -> None:
    code, output = run(str(PROGRAMS / "old.py"), option, value)
    assert code == 2 and f"Invalid value for '{option}': {value} is not a finite number of at least 0" in output


def test_links_to_nothing_and_pipes_are_named(tmp_path: Path) -> None:
    link, pipe = tmp_path / "link.py", tmp_path / "parity.toml"
    link.symlink_to("nowhere.py")
    os.mkfifo(pipe)
    assert run(str(link)) == (2, f"Error: {link} is a dangling link: there is no nowhere.py\n")
    assert run(str(pipe)) == (2, f"Error: {pipe}: neither a regular file nor a folder\n")


def test_an_interpreter_that_is_none_exits_with_2(tmp_path: Path) -> None:
    program = str(PROGRAMS / "old.py")
    code, output = run("-q", program, program, "--old-python", str(tmp_path / "python"))
    assert code == 2 and "the old program could not be started" in output


@pytest.mark.parametrize(("given", "made"), [("", sys.executable), ("python3", "python3")])
def test_an_interpreter_of_the_path(given: str, made: str) -> None:
    assert _interpreter(given) == made


def test_the_path_of_an_interpreter_is_that_of_the_caller(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert _interpreter("venv/bin/python") == str(tmp_path / "venv" / "bin" / "python")


def test_interrupt_ends_the_child_and_exits_with_130(tmp_path: Path) -> None:
    python = tmp_path / "python"
    python.write_text(f"#!/bin/sh\necho $$ > {tmp_path}/pid\nexec sleep 60\n")
    python.chmod(0o755)
    program = str(PROGRAMS / "old.py")
    command = [sys.executable, "-m", "migrator.parity", program, program, "--old-python", str(python)]
    harness = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        wait_for(lambda: (tmp_path / "pid").exists() and (tmp_path / "pid").read_text().strip())
        harness.send_signal(signal.SIGINT)
        _, errors = harness.communicate(timeout=30)
    finally:
        harness.kill()
    assert harness.returncode == 130 and "interrupted" in errors
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)


def wait_for(condition: Callable[[], object], seconds: float = 30) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.05)


def test_a_program_that_trains_nothing_is_no_pass(tmp_path: Path) -> None:
    pytest.importorskip("tensorflow_estimator")
    (tmp_path / "idle.py").write_text("import sys\nprint('args', sys.argv[1:])\n")
    program, kept, report = str(tmp_path / "idle.py"), tmp_path / "kept", tmp_path / "report.json"
    code, output = run(program, program, "--keep", str(kept), "--json", str(report), "--", "--flag", "-q")
    assert code == 2 and "nothing was compared" in output and "dropout" not in output and "note:" not in output
    assert "idle: recording the old program" in output
    assert "args ['--flag', '-q']" in (kept / "idle" / "new" / "log.txt").read_text()
    assert json.loads(report.read_text())["cases"][0]["verdict"] == "could not run"


def test_one_program_is_migrated_and_compared(tmp_path: Path) -> None:
    """`tensorflow` stands for TF1 on the old side, and the migrated copy goes through vendored helpers."""
    pytest.importorskip("tensorflow_estimator")
    report, page = tmp_path / "report.json", tmp_path / "report.html"
    program = str(PROGRAMS / "regression.py")
    code, output = run(program, "-q", "--mode", "live", "--json", str(report), "--html", str(page))
    assert code == 0, output
    (case,) = json.loads(report.read_text())["cases"]
    assert (case["verdict"], len(case["losses"]), case["batches_compared"]) == ("equal", 10, 10 + 32 + 1)
    assert {row["how"] for row in case["weights"]} == {"map"}
    assert [row["name"] for row in case["predictions"]] == ["out"] and case["predictions"][0]["shape"] == [1, 1]
    assert not any("still uses tf.estimator" in note for note in case["notes"])
    assert "shuffling was switched off" in "".join(case["notes"])
    assert page.read_text().count("<polyline") == 2


def test_a_misspelt_program_brings_a_suggestion(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("trainer.py").write_text("")
    code, output = run("trainr.py")
    assert code == 2 and "trainr.py: no such file or folder; did you mean trainer.py?" in output


def test_without_a_path_the_cases_of_the_settings_are_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "inner").mkdir()
    monkeypatch.chdir(tmp_path / "inner")
    code, output = run("-q")
    assert code == 2 and output.startswith("Usage:")
    (tmp_path / "pyproject.toml").write_text("[[tool.migrate.parity]]\nprogram = 'none.py'\n")
    code, output = run("-q")
    assert code == 2 and "none.py: no such file or folder" in output
    (tmp_path / "pyproject.toml").write_text("[[tool.migrate.parity]]\nprogramm = 'none.py'\n")
    assert "unknown key programm; did you mean program?" in run("-q")[1]


def test_reports_are_not_written_over_programs_and_what_cannot_be_written_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from migrator.parity.judge.report import CaseReport
    from migrator.parity.run import runner

    monkeypatch.setattr(runner, "run_case", lambda case, *rest: CaseReport(case.name, "equal"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "program.py").write_text("x = 1\n")
    (tmp_path / "file").touch()
    for option in ("--json", "--html", "--junit-xml", "--markdown"):
        code, output = run("program.py", option, "program.py")
        assert code == 2 and "is the name of a program" in output
    code, output = run("-q", "program.py", "--json", "file/x.json", "--html", "page.html")
    assert code == 2 and "cannot write file/x.json" in output and (tmp_path / "page.html").exists()
    assert "program: equal" in output and (tmp_path / "program.py").read_text() == "x = 1\n"

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from migrator.parity.command import parity

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
    ],
)
def test_what_cannot_be_run_exits_with_2(args: tuple[str, ...], message: str) -> None:
    code, output = run("-q", *args)
    assert code == 2 and message in output


def test_an_interpreter_that_is_none_exits_with_2(tmp_path: Path) -> None:
    program = str(PROGRAMS / "old.py")
    code, output = run("-q", program, program, "--old-python", str(tmp_path / "python"))
    assert code == 2 and "the old program could not be started" in output


def test_a_program_that_trains_nothing_is_no_pass(tmp_path: Path) -> None:
    pytest.importorskip("tensorflow_estimator")
    (tmp_path / "idle.py").write_text("import sys\nprint('args', sys.argv[1:])\n")
    program, kept, report = str(tmp_path / "idle.py"), tmp_path / "kept", tmp_path / "report.json"
    code, output = run(program, program, "--keep", str(kept), "--json", str(report), "--", "--flag", "-q")
    assert code == 2 and "nothing was compared" in output
    assert "idle: recording the old program" in output
    assert "args ['--flag', '-q']" in (kept / "idle" / "new" / "log.txt").read_text()
    assert json.loads(report.read_text())["cases"][0]["verdict"] == "could not run"

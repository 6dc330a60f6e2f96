"""`pytest --parity`: what is collected, and what a failure says. The programs are not run here."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

VERDICTS = """
from migrator.parity.run import runner
from migrator.parity.judge.report import CaseReport, Difference

def run_case(case, progress, keep=None):
    found = [Difference("losses", "step 3", "2 is not 1")] if "bad" in case.name else []
    if "broken" in case.name:
        return CaseReport(case.name, problem="no TensorFlow here")
    return CaseReport(case.name, "different" if found else "equal", differences=found)

runner.run_case = run_case
"""
CASE = '[[case]]\nname = "{}"\nprogram = "task.py"\n'


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with a test of its own and a parity.toml."""
    (tmp_path / "conftest.py").write_text(VERDICTS)
    (tmp_path / "test_own.py").write_text("def test_own():\n    pass\n")
    (tmp_path / "trainer").mkdir()
    (tmp_path / "trainer" / "parity.toml").write_text("".join(map(CASE.format, ("good", "bad", "broken"))))
    return tmp_path


def run(project: Path, *arguments: str) -> str:
    command = [sys.executable, "-m", "pytest", "-p", "migrator.parity.pytest_plugin", "-p", "no:cacheprovider", "-v"]
    done = subprocess.run([*command, *arguments], cwd=project, capture_output=True, text=True, timeout=120)
    return done.stdout + done.stderr


def test_nothing_is_collected_unasked(project: Path) -> None:
    assert "1 passed" in run(project)


def test_each_case_is_a_test(project: Path) -> None:
    output = run(project, "--parity", "--junit-xml=report.xml")
    assert "trainer/parity.toml::good PASSED" in output and "2 failed, 2 passed" in output
    assert "losses: step 3: 2 is not 1" in output and "no TensorFlow here" in output
    assert "Traceback" not in output and "NotEqual" not in output.replace("NotEqual: ", "")
    assert 'name="bad"' in (project / "report.xml").read_text()


def test_cases_are_selected_like_tests(project: Path) -> None:
    assert "1 passed, 3 deselected" in run(project, "--parity", "-k", "good")


def test_files_of_options_list_cases_too(project: Path) -> None:
    (project / "trainer" / "parity.toml").unlink()
    (project / "pyproject.toml").write_text(
        "[project]\nname = 'x'\n" + CASE.format("good").replace("case", "tool.migrate.parity")
    )
    (project / "trainer" / "pyproject.toml").write_text("[project]\nname = 'y'\n")
    (project / "trainer" / "migrate.toml").write_text("not TOML [")
    output = run(project, "--parity")
    assert "pyproject.toml::good PASSED" in output and "2 passed" in output


def test_a_bad_file_is_an_error_with_its_reason(project: Path) -> None:
    (project / "trainer" / "parity.toml").write_text("[[case]]\nprogam = 'task.py'\n")
    output = run(project, "--parity")
    assert "unknown key progam; did you mean program?" in output and "1 error" in output and "Traceback" not in output

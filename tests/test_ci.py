"""What other people's CI runs: the hook, the action and its script, and the snippets of docs/ci.md."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = "import tensorflow as tf\n\ntf.logging.info('x')\n"


def check(folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run the script of the action with the `migrate` of this interpreter."""
    bin_folder = folder / "bin"
    bin_folder.mkdir()
    command = bin_folder / "migrate"
    command.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m migrator "$@"\n')
    command.chmod(0o755)
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "PATH": f"{bin_folder}{os.pathsep}{os.environ['PATH']}",
        "MIGRATE_REPORT": str(folder / "report"),
        "GITHUB_STEP_SUMMARY": str(folder / "summary.md"),
        **variables,
    }
    script = [str(ROOT / "scripts" / "ci-check")]
    return subprocess.run(script, cwd=folder, env=environment, capture_output=True, text=True, timeout=120)


def test_the_action_annotates_and_reports(tmp_path: Path) -> None:
    (tmp_path / "task.py").write_text(PROGRAM)
    done = check(tmp_path, MIGRATE_PATHS="task.py")
    assert done.returncode == 1 and re.match("::(warning|notice) title=migrate", done.stdout), done.stderr
    assert "<!doctype html>" in (tmp_path / "report" / "migrate.html").read_text().lower()
    assert "## Changes" in (tmp_path / "summary.md").read_text()
    assert (tmp_path / "task.py").read_text() == PROGRAM


def test_the_action_succeeds_where_nothing_is_left(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("print(1)\n")
    assert check(tmp_path, MIGRATE_PATHS="a.py").returncode == 0


def test_parity_that_cannot_run_fails_the_action(tmp_path: Path) -> None:
    done = check(tmp_path, MIGRATE_PATHS="", MIGRATE_PARITY="none.toml")
    assert done.returncode == 2 and "none.toml" in done.stderr


def test_paths_are_never_read_as_commands(tmp_path: Path) -> None:
    done = check(tmp_path, MIGRATE_PATHS="$(touch found) `touch found` ;touch")
    assert done.returncode == 2 and not (tmp_path / "found").exists()


def test_the_action_passes_inputs_through_the_environment() -> None:
    text = (ROOT / "action.yml").read_text()
    assert not [line for line in text.splitlines() if "run:" in line and "${{" in line]
    inputs = set(re.findall(r"inputs\.([\w-]+)", text))
    declared = set(re.findall(r"^  ([\w-]+):\n    description", text, re.MULTILINE))
    assert inputs == declared


def test_the_hook_runs(tmp_path: Path) -> None:
    hook = dict(re.findall(r"^(?:- |  )(\w+): (.*)$", (ROOT / ".pre-commit-hooks.yaml").read_text(), re.MULTILINE))
    assert hook["language"] == "python" and hook["pass_filenames"] == "false" and hook["args"] == '["."]'
    (tmp_path / "task.py").write_text(PROGRAM)
    words = shlex.split(hook["entry"])
    assert words[0] == "migrate"
    command = [sys.executable, "-m", "migrator", *words[1:], "."]
    done = subprocess.run(
        command, cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True
    )
    assert done.returncode == 1 and "1 change" in done.stdout, done.stdout + done.stderr
    assert (tmp_path / "task.py").read_text() == PROGRAM


@pytest.mark.parametrize("word", ["--quiet", "--junit-xml", "--html"])
def test_options_of_the_page_exist(word: str) -> None:
    outputs = [
        subprocess.run([sys.executable, "-m", "migrator", *arguments], cwd=ROOT, capture_output=True, text=True).stdout
        for arguments in (["--help"], ["parity", "--help"])
    ]
    assert word in (ROOT / "docs" / "ci.md").read_text() and any(word in output for output in outputs)

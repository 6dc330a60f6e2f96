"""What other people's CI runs: the hook, the action and its script, and the snippets of docs/ci.md."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

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


def valid(schema: str, file: Path) -> bool:
    """Whether a file is as a service says that it has to be."""
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", f"vendor.{schema}", str(file)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode in (0, 1), done.stderr
    return done.returncode == 0


def snippet(title: str) -> Any:
    """What stands below a title of docs/ci.md."""
    text = (ROOT / "docs" / "ci.md").read_text().partition(f"## {title}\n")[2]
    return yaml.safe_load(text.partition("```yaml\n")[2].partition("```")[0])


def test_the_action_is_one(tmp_path: Path) -> None:
    assert valid("github-actions", ROOT / "action.yml")
    (tmp_path / "action.yml").write_text((ROOT / "action.yml").read_text().replace("using:", "use:"))
    assert not valid("github-actions", tmp_path / "action.yml")


def test_snippets_are_as_services_want_them(tmp_path: Path) -> None:
    inputs = yaml.safe_load((ROOT / "action.yml").read_text())["inputs"]
    job = {"runs-on": "ubuntu-latest", **snippet("GitHub Actions")}
    assert set(job["steps"][-1]["with"]) <= set(inputs)
    for schema, content in (
        ("github-workflows", {"on": "push", "jobs": {"check": job}}),
        ("gitlab-ci", snippet("GitLab")),
    ):
        file = tmp_path / "content.yml"
        file.write_text(yaml.safe_dump(content))
        assert valid(schema, file)
        file.write_text(yaml.safe_dump({**content, "jobs": {"check": {"script": 1}}}))
        assert not valid(schema, file)


def test_pre_commit_installs_and_runs_the_hook(tmp_path: Path) -> None:
    (config,) = snippet("pre-commit")["repos"]
    environment = {**os.environ, "PRE_COMMIT_HOME": str(tmp_path / "home")}
    environment = {name: value for name, value in environment.items() if not name.startswith("GIT_")}
    head = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, env=environment, capture_output=True, text=True)
    # The page's own snippet, with what is committed here; `try-repo` would install it anew for each run.
    local = {**config, "repo": str(ROOT), "rev": head.stdout.strip()}
    work = tmp_path / "work"
    (work / "trainer").mkdir(parents=True)
    (work / ".pre-commit-config.yaml").write_text(yaml.safe_dump({"repos": [local]}))
    task = work / "trainer" / "task.py"
    command = [sys.executable, "-m", "pre_commit", "run", "--all-files"]
    for program, code, said in ((PROGRAM, 1, "1 change"), ("print(1)\n", 0, "Passed")):
        task.write_text(program)
        subprocess.run("git init -q . && git add .", shell=True, cwd=work, env=environment, check=True)
        done = subprocess.run(command, cwd=work, env=environment, capture_output=True, text=True, timeout=600)
        assert done.returncode == code and said in done.stdout, done.stdout + done.stderr
        assert task.read_text() == program


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

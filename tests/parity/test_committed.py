"""The old program as git has it."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from migrator.parity.judge.case import Case, CaseError, Program
from migrator.parity.run.committed import old_program


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A program that was committed, and has changed since, beside data that git ignores."""
    folder = tmp_path / "repository" / "trainer"
    folder.mkdir(parents=True)
    (folder / "task.py").write_text("old")
    (folder / "model.py").write_text("old model")
    (folder / ".gitignore").write_text("data.csv\n")
    for command in (["init", "-q"], ["add", "."], ["-c", "user.name=a", "-c", "user.email=b", "commit", "-qm", "x"]):
        subprocess.run(["git", "-C", str(folder.parent), *command], check=True)
    (folder / "task.py").write_text("new")
    (folder / "model.py").unlink()
    (folder / "added.py").write_text("new")
    (folder / "data.csv").write_text("1,2")
    return folder


@pytest.mark.parametrize("start", ["task.py", ""])
def test_the_old_program_is_what_git_has(repository: Path, tmp_path: Path, start: str) -> None:
    case = Case("task", Program(repository / start, entry="" if start else "task.py"), since="HEAD")
    old = old_program(case, tmp_path / "root").old
    assert old.start() == "task.py" and (old.folder / "task.py").read_text() == "old"
    assert (old.folder / "model.py").read_text() == "old model" and (old.folder / "data.csv").read_text() == "1,2"
    assert (repository / "task.py").read_text() == "new"


@pytest.mark.parametrize(("name", "revision"), [("task.py", "nowhere"), ("added.py", "HEAD")])
def test_what_git_has_not_is_told(repository: Path, tmp_path: Path, name: str, revision: str) -> None:
    with pytest.raises(CaseError, match=revision):
        old_program(Case("task", Program(repository / name), since=revision), tmp_path / "root")


def test_without_a_repository_it_is_told(tmp_path: Path) -> None:
    (tmp_path / "task.py").write_text("x")
    with pytest.raises(CaseError, match="not a git repository"):
        old_program(Case("task", Program(tmp_path / "task.py"), since="HEAD"), tmp_path / "root")

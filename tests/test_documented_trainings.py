"""Every command that the pages show and that trains: run as it stands, but for the training, which fixtures do."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from docs_tools import ROOT, blocks, sessions

from migrator.cli import cli
from migrator.parity.checkpoints import conversion
from migrator.parity.judge.case import Case
from migrator.parity.judge.report import CaseReport, LossRow
from migrator.parity.run import runner

PAGES = ["README.md", *sorted(str(path.relative_to(ROOT)) for path in (ROOT / "docs").glob("*.md"))]
PROGRAM = "import tensorflow as tf\n\nif __name__ == '__main__':\n    print(tf.__version__)\n"


def shown() -> list[list[tuple[str, str]]]:
    """For each block of commands of which one trains: its page, and these commands, without comments."""
    found = []
    for page in PAGES:
        for block in blocks(page):
            if block.language != "console" or block.what.startswith("run on"):
                continue
            commands = [re.split(r"\s+#", command)[0].strip() for command, _ in sessions(block.text)]
            own = [(page, c) for c in commands if "parity" in c or c.startswith("migrate checkpoint")]
            if any(command.startswith(("migrate parity", "migrate checkpoint")) for _, command in own):
                found.append([pair for pair in own if pair[1].startswith("migrate")])
    return found


@pytest.fixture
def ran(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The test runs where the files are that the commands name. What would have been trained."""
    monkeypatch.chdir(tmp_path)
    for name in ("program.py", "old.py", "new.py", "task.py", "trainer/task.py", "path/to/program.py"):
        for folder in ("", "demo-out/before/", "demo-out/after/"):
            (tmp_path / folder / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / folder / name).write_text(PROGRAM)
    (tmp_path / "parity.toml").write_text("[[case]]\nprogram = 'task.py'\n")
    (tmp_path / "model_dir").mkdir()
    found: list[Any] = []

    def run_case(case: Case, *rest: object) -> CaseReport:
        assert case.old.start() or case.old.module
        found.append(case)
        return CaseReport(case.name, "equal", losses=[LossRow(0, 1, 0.5, 0.5, 0.0, True)])

    def convert(order: conversion.Order) -> conversion.Converted:
        found.append(order)
        return conversion.Converted(Path("ckpt-1"), 1, [["a", "b", "name"]])

    monkeypatch.setattr(runner, "run_case", run_case)
    monkeypatch.setattr(conversion, "convert", convert)
    return found


@pytest.mark.parametrize("commands", shown(), ids=lambda commands: f"{commands[0][0]}: {commands[0][1]}")
def test_commands_that_train_are_understood(commands: list[tuple[str, str]], ran: list[Any]) -> None:
    for _, command in commands:
        before = len(ran)
        done = CliRunner().invoke(cli.cli, shlex.split(command)[1:], prog_name="migrate")
        assert done.exit_code == 0, f"{command}: {done.output}"
        trains = command.startswith(("migrate parity", "migrate checkpoint"))
        assert len(ran) == before + trains, command
        for name in re.findall(r"--(?:json|html|junit-xml|output) (\S+)", command):
            assert Path(name).stat().st_size > 100, command

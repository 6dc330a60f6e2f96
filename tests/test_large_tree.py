"""A directory of 5,000 files: what is shown meanwhile, and an interrupt at any time."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from cli_tools import HEAD
from terminal_tools import Terminal

from migrator.cli.terminal import EXIT_INTERRUPTED

BODY = "tf.old\n" + "x = 1\n" * 60


@pytest.fixture
def tree(sample_folder: Path) -> Path:
    """5,000 files, each with something to change."""
    for folder in range(50):
        (sample_folder / f"p{folder:02}").mkdir()
        for number in range(100):
            (sample_folder / f"p{folder:02}" / f"m{number:02}.py").write_text(HEAD + BODY)
    return sample_folder


def test_progress_is_shown_and_an_interrupt_leaves_no_file_half_written(tree: Path) -> None:
    terminal = Terminal(".", "--apply", "-q")
    terminal.until(" of 5000 files")
    terminal.until(" of 5000 files")  # it goes on
    os.killpg(terminal.process.pid, signal.SIGINT)
    assert terminal.close() == EXIT_INTERRUPTED and "No file was left half written" in terminal.plain
    assert "Traceback" not in terminal.plain
    assert {path.read_text() for path in tree.glob("p*/*")} == {HEAD + BODY}
    assert len(list(tree.glob("p*/*"))) == 5000 and not list(tree.glob("p*/.*"))

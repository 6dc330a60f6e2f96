"""What is said of a side that did not come to its end."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from migrator.parity.run import runner, sandbox

PLACEHOLDER = "RuntimeError: tf.placeholder() is not compatible with eager execution."


@pytest.mark.parametrize(
    ("side", "line", "advised"),
    [
        ("old", PLACEHOLDER, True),
        ("new", PLACEHOLDER, False),  # what we wrote is at fault
        ("old", "ValueError: planted", False),
    ],
)
def test_programs_that_count_on_graphs_are_told_how_they_get_them(
    tmp_path: Path, side: str, line: str, advised: bool
) -> None:
    ended: Any = SimpleNamespace(timed_out=False, returncode=1, log="log.txt", seconds=1.0)
    box = sandbox.Sandbox(tmp_path)
    box.log.write_text(f"Traceback (most recent call last):\n{line}\n")
    program: Any = "task.py"
    text = runner._failure(side, program, ended, box)
    assert line in text and "ended with 1" in text
    assert ("--old-dialect v1" in text) is advised

"""A training that is killed and started again has the losses that it would have had."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import tensorflow as tf

from migrator.runtime.training.events import read_scalars

PROGRAM = Path(__file__).with_name("killed_program.py")


def run(folder: Path, *kill: str) -> int:
    """The status of the program's process."""
    command = [sys.executable, str(PROGRAM), str(folder), *kill]
    return subprocess.run(command, timeout=200, check=False, capture_output=True).returncode


def losses(folder: Path) -> dict[int, float]:
    """Losses by step, as TensorBoard reads them from the event files; the later run counts where two wrote a step."""
    return {step: scalars["loss"] for step, scalars in read_scalars(f"{folder}/*.tfevents.*").items()}


def test_killed_and_resumed(tmp_path: Path) -> None:
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    assert run(whole) == 0
    assert run(killed, "27") == -signal.SIGKILL
    assert tf.train.latest_checkpoint(str(killed)) == str(killed / "model.ckpt-20")
    first = losses(killed)
    assert run(killed) == 0
    assert tf.train.latest_checkpoint(str(killed)) == str(killed / "model.ckpt-40")
    expected, resumed = losses(whole), losses(killed)
    assert list(expected) == list(resumed) == list(range(1, 41)) and max(first) < 40
    np.testing.assert_allclose(list(resumed.values()), list(expected.values()), rtol=1e-5)
    assert expected[40] < expected[20] < expected[1]  # there was something to lose

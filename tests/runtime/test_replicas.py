"""Runs tests of replicas in processes of their own: what other tests compute first settles the devices of a process."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.parametrize("suite", ["on_replicas.py", "averaged_gradients.py", "edited_on_replicas.py"])
def test_two_replicas(suite: str) -> None:
    suite = str(Path(__file__).with_name(suite))
    command = [sys.executable, "-m", "pytest", "-n", "0", "-q", "-p", "no:cacheprovider", suite]
    result = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert result.returncode == 0, result.stdout + result.stderr

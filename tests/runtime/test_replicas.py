"""Runs on_replicas.py in a process of its own: what other tests compute first settles the devices of a process."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def test_two_replicas() -> None:
    suite = Path(__file__).with_name("on_replicas.py")
    command = [sys.executable, "-m", "pytest", "-n", "0", "-q", "-p", "no:cacheprovider", str(suite)]
    result = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert result.returncode == 0, result.stdout + result.stderr

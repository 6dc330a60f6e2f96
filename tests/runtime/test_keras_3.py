"""Helpers that know of Keras 3 compute with it what they compute with Keras 2."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import keras_3_program
import pytest

TOP = Path(__file__).resolve().parent.parent.parent
LATEST = os.environ.get("MIGRATOR_LATEST_PYTHON") or str(TOP / ".venv-latest" / "bin" / "python")


def test_with_the_keras_at_hand(tmp_path: Path) -> None:
    assert keras_3_program.differences(str(tmp_path)) == []


@pytest.mark.parity
@pytest.mark.skipif(not os.path.exists(LATEST), reason="needs the newest TensorFlow: make setup-latest")
def test_with_keras_3() -> None:
    environment = {**os.environ, "PYTHONPATH": str(TOP), "TF_USE_LEGACY_KERAS": "0"}
    command = [LATEST, keras_3_program.__file__]
    result = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
    assert "0 differences with Keras 3" in result.stdout, result.stdout + result.stderr

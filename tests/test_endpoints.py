"""rules/symbols/endpoints.json is what tools/build_endpoints.py writes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


def test_endpoints_are_up_to_date(tmp_path: Path) -> None:
    tensorflow = pytest.importorskip("tensorflow")
    stored = json.loads((ROOT / "rules" / "symbols" / "endpoints.json").read_text())
    if tensorflow.__version__ != stored["tensorflow"]:
        pytest.skip(f"built with TensorFlow {stored['tensorflow']}")
    (tmp_path / "symbols.toml").write_text((ROOT / "rules" / "symbols" / "symbols.toml").read_text())
    command = [sys.executable, str(ROOT / "tools" / "build_endpoints.py"), str(tmp_path / "endpoints.json")]
    subprocess.run(command, check=True, timeout=300, capture_output=True)
    assert json.loads((tmp_path / "endpoints.json").read_text()) == stored

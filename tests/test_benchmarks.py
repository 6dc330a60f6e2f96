"""The benchmarks run: what they measure may only be read where they still find it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def test_scaling_is_measured(tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    command = [sys.executable, str(ROOT / "benchmarks" / "scaling.py"), "--lines", "300", "900", "--rounds", "1"]
    subprocess.run([*command, "--json", str(out)], check=True, timeout=120, cwd=tmp_path, stdout=subprocess.DEVNULL)
    found = json.loads(out.read_text())
    assert list(found)[-1] == "phases" and found["phases"].keys() >= {"start", "parse", "rules", "report", "other"}
    assert found["phases"]["rules"] > 0 and found["phases"]["parse"] > 0
    sizes = [int(lines) for lines in list(found)[:-1] if lines != "growth"]
    assert 300 <= sizes[0] < 900 <= sizes[1]

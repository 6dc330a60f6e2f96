"""The benchmarks run: what they measure may only be read where they still find it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def test_scaling_is_measured(tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    sizes = ["--lines", "300", "900", "--file-lines", "400", "800"]
    command = [sys.executable, str(ROOT / "benchmarks" / "scaling.py"), *sizes, "--rounds", "1"]
    subprocess.run([*command, "--json", str(out)], check=True, timeout=400, cwd=tmp_path, stdout=subprocess.DEVNULL)
    found = json.loads(out.read_text())
    files = found.pop("files")
    assert [300 <= int(lines) <= 800 and times["ratio"] > 0 for lines, times in files.items()] == [True, True]
    assert list(found)[-1] == "phases" and found["phases"].keys() >= {"start", "parse", "rules", "report", "other"}
    assert found["phases"]["rules"] > 0 and found["phases"]["parse"] > 0
    measured = [int(lines) for lines in list(found)[:-1] if lines != "growth"]
    assert 300 <= measured[0] < 900 <= measured[1]

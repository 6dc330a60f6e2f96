"""Ten fixtures are programs of the size and in the styles of real repositories: none manual, and most native.

`tests/test_fixtures.py` trains them before and after, over `STEPS` steps or more each.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from program_styles import PROGRAMS

FIXTURES = Path(__file__).resolve().parent.parent / "fixtures"


@pytest.mark.parametrize("case", PROGRAMS)
def test_they_are_as_long_as_real_ones(case: str) -> None:
    folder = FIXTURES / case
    files = [*folder.glob("before.py"), *(folder / "before").rglob("*.py")]
    lines = sum(len(path.read_text().splitlines()) for path in files)
    assert 150 <= lines <= 500


def test_none_is_manual_and_most_are_native(tmp_path: Path) -> None:
    for case in PROGRAMS:
        before, folder = FIXTURES / case / "before", tmp_path / case.replace("/", "_")
        if before.is_dir():
            shutil.copytree(before, folder)
        else:
            folder.mkdir()
            shutil.copy(before.with_suffix(".py"), folder)
    command = [sys.executable, "-m", "migrator", ".", "--format", "json"]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=240)
    assert result.returncode == 1, result.stderr
    tiers = {p["location"]["path"].split("/")[0]: p["tier"] for p in json.loads(result.stdout)["programs"]}
    assert sorted(tiers) == sorted(case.replace("/", "_") for case in PROGRAMS)
    assert "manual" not in tiers.values()
    assert list(tiers.values()).count("native") >= 8, tiers

"""How many batches `model.evaluate` takes is compared although the loss is compared as a mean over batches."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from migrator.parity.judge.case import Case, Program
from migrator.parity.judge.casefile import load_cases
from migrator.parity.run.progress import Progress
from migrator.parity.run.runner import run_case

pytest.importorskip("tensorflow_estimator")


@pytest.mark.parity
def test_one_batch_fewer_is_found(tmp_path: Path, root: Path) -> None:
    folder = tmp_path / "guide"
    shutil.copytree(root / "fixtures" / "multi_worker" / "guide", folder)
    after = folder / "after.py"
    text = after.read_text()
    assert text.count(" steps=steps\n") == 1
    after.write_text(text.replace(" steps=steps\n", " steps=steps - 1\n"))
    (case,) = load_cases(folder / "parity.toml", Case("", Program(folder / "parity.toml")))
    report = run_case(case, Progress(quiet=True))
    assert report.verdict == "different"
    assert [str(difference).partition(":")[0] for difference in report.differences] == ["metrics"]

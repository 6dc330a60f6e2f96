"""A second run of the old program has the first weights and the batches of the first one, though chance would give it others."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from migrator.parity.judge.case import Case, Program
from migrator.parity.judge.drift import Again, unlike
from migrator.parity.probe.recorded.store import Reader
from migrator.parity.run.progress import Progress
from migrator.parity.run.runner import run_side

PROGRAM = Program(Path(__file__).parent / "programs" / "by_chance.py")


@pytest.mark.parity
def test_what_chance_decides_is_repeated(tmp_path: Path) -> None:
    pytest.importorskip("tensorflow_estimator")
    case, progress = Case("chance", PROGRAM), Progress(quiet=True)
    first = run_side("old", PROGRAM, tmp_path / "first", progress, case, None)
    other = run_side("old", PROGRAM, tmp_path / "other", progress, case, None, 1)
    again = run_side("old", PROGRAM, tmp_path / "again", progress, case, None, 1, first.folder)
    old = Reader(str(first.folder))
    assert unlike(old, Again(str(other.folder))) != ""
    repeated = Again(str(again.folder))
    assert unlike(old, repeated) == ""
    losses, repeated_losses = ([event["loss"] for event in side.of("step")] for side in (old, repeated))
    assert len(losses) == len(repeated_losses) == 5 and np.allclose(losses, repeated_losses, 1e-5)
    assert len(list(old.of("batch"))) == len(list(repeated.of("batch"))) == 5
    (metrics,), (repeated_metrics,) = (
        [event["metrics"]["loss"] for event in side.of("metrics")] for side in (old, repeated)
    )
    assert np.allclose(old.array(metrics), repeated.array(repeated_metrics), 1e-5)

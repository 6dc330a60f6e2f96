"""Trainings without replay: what chance does, and what it does not."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from migrator.parity.judge.case import Case, Program
from migrator.parity.judge.samples import SIGNIFICANCE, Compared, compared, permutation_p
from migrator.parity.probe.recorded.store import Reader, Writer
from migrator.parity.run.free import TRAINING_LOSS, results
from migrator.parity.run.progress import Progress
from migrator.parity.run.runner import run_case

PROGRAMS = Path(__file__).parent / "programs"


def test_of_few_numbers_all_ways_to_share_them_out_are_looked_at() -> None:
    assert permutation_p([1, 2, 3], [10, 11, 12]) == pytest.approx(2 / math.comb(6, 3))
    assert permutation_p([1.0] * 5, [1.0] * 5) == 1.0
    assert permutation_p([1, 4], [2, 3]) == 1.0


def test_chance_alone_is_significant_as_often_as_it_may_be() -> None:
    rng = np.random.RandomState(0)
    found = [permutation_p(rng.randn(6), rng.randn(6)) < 0.05 for _ in range(400)]
    assert 0.02 < np.mean(found) < 0.08


def test_a_difference_that_is_called_visible_is_seen_in_four_of_five_cases() -> None:
    rng = np.random.RandomState(0)
    ones = tuple([1.0, -1.0] * 4)
    visible = Compared("x", ones, ones, 1.0).visible / Compared("x", ones, ones, 1.0).deviation
    seen = [permutation_p(rng.randn(8), rng.randn(8) + visible) < SIGNIFICANCE for _ in range(200)]
    assert 0.7 < np.mean(seen) < 0.9


def test_what_the_report_says_of_a_number() -> None:
    (row,) = compared({"auc": [0.60, 0.62, 0.58, 0.60]}, {"auc": [0.61, 0.59, 0.60, 0.62]})
    assert not row.differs and row.effect == pytest.approx(0.005 / row.deviation)
    assert "means of 4 and 4 runs" in str(row) and f"to see one of 1 %, take --seeds {row.seeds(0.01)}" in str(row)
    assert row.visible == pytest.approx((1 + 2 / 6) * 3.418 * row.deviation * math.sqrt(0.5), rel=1e-3)
    assert Compared("x", row.old * 30, row.new * 30, 1.0).visible < row.visible / 5


def test_many_numbers_are_not_each_a_chance_to_differ() -> None:
    old, new = [1.0, 1.1, 1.2, 1.3, 1.4], [2.0, 2.1, 2.2, 2.3, 2.4]
    one = compared({"a": old}, {"a": new})[0]
    many = compared(dict.fromkeys("abcdef", old), dict.fromkeys("abcdef", new))
    assert one.differs and one.p == pytest.approx(2 / 252) and not any(row.differs for row in many)
    assert all(row.p == pytest.approx(6 * one.p) for row in many)


@pytest.mark.parametrize(
    ("old", "new", "differs"),
    [
        ([1.0] * 8, [1.0001] * 8, False),  # sure, and nothing
        ([1.0] * 8, [1.1] * 8, True),
        ([1.0, math.nan], [1.0, math.nan], False),
        ([1.0, 1.0], [1.0, math.nan], True),
    ],
)
def test_what_counts_as_a_difference(old: list[float], new: list[float], differs: bool) -> None:
    assert compared({"a": old}, {"a": new})[0].differs is differs


def test_results_are_the_last_evaluation_and_the_end_of_the_training(tmp_path: Path) -> None:
    writer = Writer(str(tmp_path))
    for step in range(1, 21):
        writer.event("step", stream=0, step=step, loss=100.0 - step)
    for value in (0.1, 0.2):
        metrics = {"auc": writer.array(value), "global_step": writer.array(20), "words": writer.array(["a", "b"])}
        writer.event("metrics", call=1, metrics=metrics)
    writer.close()
    assert results(Reader(str(tmp_path))) == {"auc": 0.2, TRAINING_LOSS: 80.5}


@pytest.mark.parity
def test_both_sides_train_freely(tmp_path: Path) -> None:
    old, new = (Program(PROGRAMS / f"{side}.py") for side in ("old", "new"))
    report = run_case(Case("free", old, new, mode="free", seeds=2), Progress(quiet=True), tmp_path)
    assert report.verdict == "equal", report.differences
    assert {row.key for row in report.metrics} == {"loss", "mse", TRAINING_LOSS}
    assert all("±" in row.old and not row.old.endswith("± 0") for row in report.metrics), (
        "each seed is another training"
    )
    assert not Path("/tmp/parity-test-model-dir").exists()

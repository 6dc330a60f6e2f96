"""Moving averages of weights that no evaluation reads: what the old program keeps, the new one has to keep."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from test_compare import Side

from migrator.parity.judge.compare import compare
from migrator.parity.judge.drift import Again, drift_of
from migrator.parity.judge.report import CaseReport
from migrator.parity.probe.recorded.averages import averaged, held
from migrator.parity.probe.recorded.store import Reader

NAME = "w/ExponentialMovingAverage"


def trained(folder: Path, side: str, average: float | None, weight: float = 1.0) -> Reader:
    """A recording of two steps, with this moving average at their end; None: no variable has its size."""
    made = Side(folder, side).train([1.0, 0.5], [weight, weight])
    kept = {} if average is None else {NAME: made.writer.array(np.array([average, 2.0], np.float32))}
    made.writer.event("averages", stream=0, call=1, variables=kept)
    return made.reader()


@pytest.mark.parametrize(
    ("new", "differs"), [(1.5, ""), (1.5000001, ""), (1.4, "differs by 0.1 (relative 0.05"), (None, "missing")]
)
def test_an_average_is_held_by_some_variable(tmp_path: Path, new: float | None, differs: str) -> None:
    report = CaseReport("a")
    compare(report, trained(tmp_path, "old", 1.5), trained(tmp_path, "new", new))
    assert [one.where for one in report.differences] == ([NAME] if differs else [])
    assert all(one.message.startswith(differs) for one in report.differences)


def test_programs_without_averages_have_no_row(tmp_path: Path) -> None:
    report = CaseReport("a")
    compare(report, Side(tmp_path, "old").train([1.0]).reader(), Side(tmp_path, "new").train([1.0]).reader())
    assert [row.name for row in report.weights] == ["w"]


def test_where_the_weights_differ_their_averages_are_not_told_as_well(tmp_path: Path) -> None:
    report = CaseReport("a")
    compare(report, trained(tmp_path, "old", 1.5), trained(tmp_path, "new", 1.4, weight=0.7))
    assert NAME not in [one.where for one in report.differences] and report.differences


def test_rounding_that_carries_an_average_away_is_no_fault(tmp_path: Path) -> None:
    old, itself, report = trained(tmp_path, "old", 1.5), CaseReport("a"), CaseReport("a")
    again = Again(trained(tmp_path, "again", 1.502).folder)
    again.events.append({"type": "variables", "stream": 0, "variables": [{"name": "w", "value": {"shape": [2]}}]})
    compare(itself, old, again)
    compare(report, old, trained(tmp_path, "new", 1.504), drift=drift_of(itself))
    assert report.verdict == "equal"


@pytest.mark.parametrize(
    ("name", "weight"),
    [
        ("dense/kernel/ExponentialMovingAverage", "dense/kernel"),
        ("dense/kernel/ExponentialMovingAverage_1", "dense/kernel"),
        ("net/net/dense/kernel/ExponentialMovingAverage", "net/dense/kernel"),
        ("loss/ExponentialMovingAverage", None),  # of a tensor, which a graph has and a model has not
        ("dense/kernel/Adam", None),
        ("ExponentialMovingAverage", None),
    ],
)
def test_averages_are_known_by_their_names(name: str, weight: str | None) -> None:
    assert averaged(name, {"dense/kernel", "net/dense/kernel"}) == weight


@pytest.mark.parity
def test_the_nearest_variable_of_a_process_is_found() -> None:
    tf = pytest.importorskip("tensorflow")
    kept = [tf.Variable([[1.0], [2.5]]), tf.Variable([1.0, 4.0]), tf.Variable([7.0]), tf.Variable([1, 2])]
    found = held({"a": np.array([1.0, 2.0], np.float32), "b": np.zeros(31, np.float32)})
    assert found["a"].tolist() == [1.0, 2.5] and "b" not in found
    assert len(kept) == 4

"""Metrics on which two programs agree although nothing was learned: the report says so."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from test_compare import Side

from migrator.parity.judge.compare import compare
from migrator.parity.judge.report import CaseReport

LABELS = np.array([0, 1, 1, 2], np.int64)


def notes(folder: Path, metrics: list[dict[str, float]], labels: object = LABELS, loss: float = 1.0) -> list[str]:
    """What the report of two equal sides says with these evaluations, each of one batch."""
    sides = []
    for name in ("old", "new"):
        side = Side(folder, name)
        for call, found in enumerate(metrics, 1):
            side.writer.event("batch", kind="evaluate", call=call, stream=0, batch=[None, side.writer.tree(labels)])
            side.evaluate(call, **found)
        sides.append(side.train([loss], [1.0]).reader())
    report = CaseReport("a")
    compare(report, *sides)
    assert report.verdict == "equal"
    return [note for note in report.notes if "equality says little" in note]


@pytest.mark.parametrize(
    ("metrics", "said"),
    [
        ([{"auc": 0.5}], "auc is 0.5, as where all predictions are alike, in each evaluation"),
        ([{"ctr_auc": 0.5, "cvr_auc": 0.5}], "ctr_auc, cvr_auc are 0.5, as where all predictions are alike"),
        ([{"accuracy": 0.5}], "accuracy is the share of one label, as where all predictions are of one class"),
        ([{"accuracy": 0.25}, {"accuracy": 0.5}], "accuracy is the share of one label"),
        ([{"precision": 0.0, "recall": 0.0}], "precision, recall are 0 in each evaluation"),
        ([{"accuracy": 1.0}], "accuracy is 1 in each evaluation"),
    ],
)
def test_a_metric_of_nothing_is_told(tmp_path: Path, metrics: list[dict[str, float]], said: str) -> None:
    (note,) = notes(tmp_path, metrics)
    assert note.startswith(said)


@pytest.mark.parametrize(
    "metrics",
    [
        [{"auc": 0.5001}],
        [{"auc": 0.5}, {"auc": 0.7}],  # it is one that shows something
        [{"accuracy": 0.75}],
        [{"accuracy": 0.25}, {"accuracy": 0.75}],
        [{"precision": 0.0}, {"precision": 0.2}],
        [{"mean": 0.5, "global_step": 0}],
    ],
)
def test_of_other_metrics_nothing_is_said(tmp_path: Path, metrics: list[dict[str, float]]) -> None:
    assert notes(tmp_path, metrics) == []


@pytest.mark.parametrize("labels", [{"a": LABELS, "b": np.array([0.5, 0.5, 0.2, 0.1])}, LABELS.astype(np.float32)])
def test_labels_may_be_several_or_floats(tmp_path: Path, labels: object) -> None:
    assert len(notes(tmp_path, [{"accuracy": 0.5}], labels)) == 1


def test_labels_that_are_no_classes_have_no_shares(tmp_path: Path) -> None:
    assert notes(tmp_path, [{"accuracy": 0.5}], np.array([0.5, 0.5, 0.2, 0.1])) == []
    assert notes(tmp_path / "none", [{"accuracy": 0.5}], None) == []


def test_losses_of_zero_are_told(tmp_path: Path) -> None:
    assert notes(tmp_path, [{"mae": 0.3}], loss=0.0) == ["all losses are 0: equality says little about the training"]

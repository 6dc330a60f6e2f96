"""Which checkpoints an old program evaluates amid its training, whatever the clock says."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from migrator.parity.probe.tf1 import throttles

training: Any = pytest.importorskip("tensorflow_estimator.python.estimator.training")


def evaluated(seconds: float) -> list[int]:
    """The steps of four checkpoints, the first before any step, that are evaluated."""
    steps: list[int] = []
    saved = [0]

    def evaluate_and_export() -> Any:
        steps.append(saved[0])
        return SimpleNamespace(status=training._EvalStatus.EVALUATED), []

    listener = training._NewCheckpointListenerForEvaluate(
        SimpleNamespace(evaluate_and_export=evaluate_and_export), seconds, training._ContinuousEvalListener()
    )
    listener.begin()
    for step in (0, 10, 20, 30):
        saved[0] = step
        listener.after_save(None, step)
    listener.end(None, 30)
    return steps


def test_each_checkpoint_is_evaluated(monkeypatch: pytest.MonkeyPatch) -> None:
    assert evaluated(600) == [10, 30]
    listener = training._NewCheckpointListenerForEvaluate
    monkeypatch.setattr(listener, "begin", listener.begin)
    notes: list[str] = []
    throttles.install(notes.append)
    assert evaluated(600) == [10, 20, 30]
    assert set(notes) == {throttles.NOTE}


def test_nothing_is_said_where_no_second_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    listener = training._NewCheckpointListenerForEvaluate
    monkeypatch.setattr(listener, "begin", listener.begin)
    notes: list[str] = []
    throttles.install(notes.append)
    assert evaluated(0) == [10, 20, 30]
    assert not notes

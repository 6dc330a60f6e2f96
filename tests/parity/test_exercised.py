"""What an old program never exercised: stops that never stopped, choices of the best that had no other."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from test_compare import Side

from migrator.parity.judge.report import Tolerance
from migrator.parity.judge.vacuous import unlike, vacuous
from migrator.parity.probe.recorded import exercised
from migrator.parity.probe.recorded.store import Reader, Writer

tf = pytest.importorskip("tensorflow")
stopping: Any = pytest.importorskip("tensorflow_estimator.python.estimator.early_stopping")


@pytest.mark.parametrize(
    ("name", "values", "said"),
    [
        ("early stopping", [False, False], "early stopping never stopped the training"),
        ("early stopping", [False, False, True], ""),
        ("best export", [True, True], "export to best: each evaluation was better than those before"),
        ("best export", [True], "export to best: there was one evaluation alone"),
        ("best export", [True, False], ""),
    ],
)
def test_a_note_says_so(tmp_path: Path, name: str, values: list[bool], said: str) -> None:
    side = Side(tmp_path, "old").train([1.0], [1.0])
    for value in values:
        fields: dict[str, Any] = {"name": "best", "made": value} if name == "best export" else {"stop": value}
        side.writer.event(name, **fields)
    notes = vacuous(side.reader(), Tolerance())
    assert [said in note and "equality says nothing about" in note for note in notes] == [True] * bool(said)


def test_stops_and_choices_are_recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    exporter, hook = tf.compat.v1.estimator.BestExporter, stopping._StopOnPredicateHook
    monkeypatch.setattr(exporter, "export", lambda self, path: path)
    monkeypatch.setattr(hook, "__init__", lambda self, should_stop_fn: setattr(self, "asked", should_stop_fn))
    writer = Writer(str(tmp_path / "old"))
    exercised.watch_choices(writer)
    best = exporter(serving_input_receiver_fn=lambda: None)
    assert [best.export(path) for path in ("a", None)] == ["a", None]
    answers = iter((False, True))
    made = hook(lambda: next(answers))
    assert [made.asked(), made.asked()] == [False, True]
    writer.close()
    reader = Reader(str(tmp_path / "old"))
    assert [event["made"] for event in reader.of("best export")] == [True, False]
    assert [event["stop"] for event in reader.of("early stopping")] == [False, False, True]


@pytest.mark.parametrize(
    ("seed", "given", "said"),
    [
        (7, [3], "tf_random_seed of the RunConfig is 7: the new program seeds TensorFlow with 3"),
        (7, [], "the new program seeds TensorFlow with nothing"),
        (7, [7], ""),
        (None, [7], ""),
    ],
)
def test_a_seed_that_is_lost_is_told(tmp_path: Path, seed: int | None, given: list[int], said: str) -> None:
    old, new = (Side(tmp_path, name).train([1.0], [1.0]) for name in ("old", "new"))
    old.writer.event("begin", kind="train", call=1, stream=0, seed=seed)
    new.writer.event("seeded", seeds=given)
    assert [said in note for note in unlike(old.reader(), new.reader())] == [True] * bool(said)


@pytest.mark.parametrize(("reported", "count"), [(2.0, 0), (2.001, 0), (2.1, 1), (None, 0)])
def test_another_loss_that_fit_reports_is_told(tmp_path: Path, reported: float | None, count: int) -> None:
    old, new = (Writer(str(tmp_path / name)) for name in ("old", "new"))
    old.event("step", stream=0, step=1, loss=2.0)
    new.event("step", stream=0, step=1, loss=2.0, **({"reported": reported} if reported else {}))
    for writer in (old, new):
        writer.close()
    notes = unlike(*(Reader(str(tmp_path / name)) for name in ("old", "new")))
    assert len(notes) == count and all("the one that `fit` reports 2.1" in note for note in notes)

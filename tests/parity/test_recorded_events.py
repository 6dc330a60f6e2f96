"""What is judged beside numbers: checkpoints, names of evaluations, buffers to shuffle in, types of predictions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from migrator.parity.checkpoints.checkpoints import NOT_WRITTEN
from migrator.parity.judge.compare import compare
from migrator.parity.judge.report import DIFFERENT, EQUAL, CaseReport
from migrator.parity.probe.recorded.store import Reader, Writer

Events = list[dict[str, Any]]


def judged(folder: Path, old: Events, new: Events, mode: str = "replay") -> CaseReport:
    """The verdict on two programs with the same losses and these events."""
    for side, events in (("old", old), ("new", new)):
        writer = Writer(str(folder / side))
        writer.event("step", stream=0, step=1, loss=1.0, batch=[None, None], others=[], sums={}, values={})
        for event in events:
            writer.event(event.pop("type"), **event)
        writer.close()
    report = CaseReport("case", mode=mode)
    compare(report, Reader(str(folder / "old")), Reader(str(folder / "new")))
    return report


def said(report: CaseReport) -> list[str]:
    assert report.verdict == (DIFFERENT if report.differences else EQUAL)
    return [str(difference) for difference in report.differences]


def saved(folder: str, *steps: int, most: int = 5) -> Events:
    """Checkpoints, of which the last ones are kept."""
    return [
        {"type": "checkpoint", "folder": folder, "step": step, "kept": list(steps[: index + 1])[-most:]}
        for index, step in enumerate(steps)
    ]


WANTED = [{"type": "cadence", "folder": "/a"}]


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (saved("/a", 0, 10, 20), saved("/b", 0, 10, 20), []),
        (saved("/a", 0, 10, 10, 20), saved("/b", 0, 10, 20), []),  # the second training began with one
        (
            saved("/a", 0, 10, 20),
            saved("/b", 0, 20),
            ["checkpoints: model: old at steps 0, 10, 20; new at steps 0, 20"],
        ),
        (
            saved("/a", 0, 10, 20, most=2),
            saved("/b", 0, 10, 20),
            ["checkpoints: model: kept at the end: old those of steps 10, 20; new those of steps 0, 10, 20"],
        ),
        (
            [*saved("/z", 0, 5), *saved("/a", 0, 10)],  # of the first nobody said how often
            [*saved("/b", 0), *saved("/c", 0, 5)],
            ["checkpoints: model 1: old at steps 0, 10; new at steps 0, 5"],
        ),
        (saved("/z", 0, 5), saved("/b", 0), []),
    ],
)
def test_steps_of_checkpoints(tmp_path: Path, old: Events, new: Events, expected: list[str]) -> None:
    assert (
        said(judged(tmp_path, [dict(event) for event in (*WANTED, *old)], [dict(event) for event in new])) == expected
    )


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("program/model", "program/model", []),
        ("tmp/tmpa", "tmp/tmpb", []),
        ("tmp/tmpa", "program/model", []),
        ("redirected/data/model", "program/other", []),  # by hand, beside the old ones
        (
            "program/model",
            "tmp/tmpb",
            ["checkpoints: model: the old program writes them to model, the new one to a temporary folder"],
        ),
    ],
)
def test_a_folder_that_was_dropped(tmp_path: Path, old: str, new: str, expected: list[str]) -> None:
    sides = [[{**event, "place": place} for event in saved("/a", 0, 10)] for place in (old, new)]
    assert said(judged(tmp_path, *sides)) == expected


def test_other_ways_to_save_are_noted(tmp_path: Path) -> None:
    report = judged(tmp_path, [*map(dict, WANTED), *saved("/a", 0, 10)], [])
    assert said(report) == [] and report.notes == [NOT_WRITTEN]


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ({"name": "test"}, {"name": "test"}, []),
        ({"name": "test"}, {}, []),  # a program that knows no names
        ({}, {"name": "test"}, []),  # a recording of an earlier version
        (
            {"name": "test"},
            {"name": ""},
            ["metrics: evaluate call 1: old name 'test', new '': results go to other folders"],
        ),
    ],
)
def test_names_of_evaluations(tmp_path: Path, old: dict[str, str], new: dict[str, str], expected: list[str]) -> None:
    event = {"type": "metrics", "call": 1, "metrics": {}}
    assert said(judged(tmp_path, [{**event, **old}], [{**event, **new}])) == expected


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ([100], [100], []),
        ([100, 10], [10, 100], []),
        ([100], [10], ["batches: buffers to shuffle in: old 100, new 10"]),
        ([100], [None], ["batches: buffers to shuffle in: old 100, new of unknown size"]),
        ([None], [None], []),
    ],
)
def test_buffers_to_shuffle_in(tmp_path: Path, old: list[int], new: list[int], expected: list[str]) -> None:
    sides = [[{"type": "shuffle", "text": "Dataset.shuffle", "size": size} for size in side] for side in (old, new)]
    assert said(judged(tmp_path, *sides, mode="live")) == expected


def test_what_is_shuffled(tmp_path: Path) -> None:
    def shuffled(*ways: str) -> list[dict[str, str]]:
        return [{"type": "shuffle", "text": "Dataset.shuffle", "how": how} for how in ways]

    assert said(judged(tmp_path / "equal", shuffled("anew", "once"), shuffled("once", "anew"), mode="live")) == []
    found = said(judged(tmp_path / "other", shuffled("anew"), shuffled("once"), mode="live"))
    assert found == ["batches: what is shuffled: old anew, new once"]


@pytest.mark.parametrize(
    ("other", "shape", "expected"),
    [
        ("int64", [2], []),
        ("int32", [2], ["x: old int64, new int32"]),
        ("int64", [2, 1], ["x: rows of old shape [], new [1]"]),
    ],
)
def test_types_of_predictions(tmp_path: Path, other: str, shape: list[int], expected: list[str]) -> None:
    events = []
    for side, kind in (("old", "int64"), ("new", other)):
        writer = Writer(str(tmp_path / side))
        writer.event("step", stream=0, step=1, loss=1.0, sums={}, values={})
        values = np.array([1, 2], kind).reshape([2] if side == "old" else shape)
        outputs = {"x": writer.array(values), "word": writer.array(np.array([b"a"], object))}
        writer.event("predictions", call=1, outputs=outputs, complete=True)
        writer.close()
        events.append(Reader(str(tmp_path / side)))
    report = CaseReport("case")
    compare(report, *events)
    assert said(report) == [f"predictions: predict call 1: {text}" for text in expected]

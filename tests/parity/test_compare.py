"""The judgement, on recordings written by hand; no TensorFlow."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from migrator.parity.judge.compare import _weight_differences, compare
from migrator.parity.judge.distances import array_distance, arrays_close, close
from migrator.parity.judge.report import SECTIONS, ArrayRow, CaseReport, Tolerance
from migrator.parity.probe.recorded.store import Reader, Writer, checksums


class Side:
    """Writes a recording of a model with one variable ``w``."""

    def __init__(self, folder: Path, side: str) -> None:
        self.writer = Writer(str(folder / side))
        self.writer.event("meta", side=side, versions={"tensorflow": "0"})
        if side == "new":
            self.writer.event("mapping", stream=0, pairs=[["w", "model/w", "name", [2]]])

    def train(self, losses: list[float], weights: list[float] | None = None) -> Side:
        weights = weights or [1.0] * len(losses)
        for step, (loss, weight) in enumerate(zip(losses, weights), 1):
            value = np.array([weight, 2.0], np.float32)
            kept = {"w": self.writer.array(value)}
            sums = {"w": checksums(value)}
            self.writer.event("step", stream=0, step=step, loss=loss, batch=[None, None], sums=sums, values=kept)
            self.writer.event("final", stream=0, call=1, variables=kept)
        return self

    def evaluate(self, call: int, event: str = "metrics", **metrics: float) -> Side:
        kept = {key: self.writer.array(value) for key, value in metrics.items()}
        self.writer.event(event, call=call, metrics=kept)
        return self

    def predict(self, call: int, complete: bool = True, **outputs: Any) -> Side:
        kept = {key: self.writer.array(value) for key, value in outputs.items()}
        self.writer.event("predictions", call=call, outputs=kept, complete=complete)
        return self

    def reader(self) -> Reader:
        self.writer.close()
        return Reader(self.writer.folder)


class TwoWeights:
    """Writes a recording of a model whose ``kernel`` moves by one and whose ``bias`` by what is given."""

    def __init__(self, folder: Path, side: str) -> None:
        self.side = Side(folder, side)
        if side == "new":
            pairs = [[name, f"model/{name}", "name", [1]] for name in ("kernel", "bias")]
            self.side.writer.event("mapping", stream=0, pairs=pairs)
        else:
            start = {"kernel": 1.0, "bias": 0.0}
            listed = [{"name": n, "trainable": True, "value": self.array(v)} for n, v in start.items()]
            self.side.writer.event("variables", stream=0, kind="train", call=1, variables=listed)

    def array(self, value: float) -> dict[str, Any]:
        return self.side.writer.array(np.array([value], np.float32))

    def train(self, bias: float, loss: float = 1.0, gradients: dict[str, float] | None = None) -> Side:
        kept = {"kernel": self.array(2.0), "bias": self.array(bias)}
        sums = {"kernel": checksums(np.array([2.0], np.float32)), "bias": checksums(np.array([bias], np.float32))}
        fields = {"batch": [None, None], "sums": sums, "values": kept, "gradients": gradients or {}}
        self.side.writer.event("step", stream=0, step=1, loss=loss, **fields)
        self.side.writer.event("final", stream=0, call=1, variables=kept)
        return self.side


def two(folder: Path, old: float, new: float, loss: float = 1.0, size: float | None = None) -> CaseReport:
    """`size` is how large the gradient of the bias was, where that is known."""
    gradients = {} if size is None else {"kernel": 0.1, "bias": size}
    return judge((TwoWeights(folder, "old").train(old, 1.0, gradients), TwoWeights(folder, "new").train(new, loss)))


def test_a_weight_that_only_rounding_moves_may_differ(tmp_path: Path) -> None:
    report = two(tmp_path, 8e-6, -6e-6)
    assert report.verdict == "equal" and all(row.equal for row in report.weights)
    assert any("bias: moved by far less than other weights" in note for note in report.notes)


@pytest.mark.parametrize("old", [8e-3, 2.3e-2])
def test_adam_moves_a_weight_without_a_gradient_further(tmp_path: Path, old: float) -> None:
    report = two(tmp_path, old, -6e-3, size=2e-9)
    assert report.verdict == "equal" and any("bias: moved" in note for note in report.notes)


@pytest.mark.parametrize(
    ("old", "new", "size"),
    [
        (8e-3, -6e-3, 2e-5),  # small, but there
        (8e-3, -6e-3, math.nan),
        (8e-3, 6e-2, 2e-9),  # the new side has one
        (8e-3, 0.0, 2e-9),  # or does not train it
    ],
)
def test_a_gradient_that_is_there_excuses_nothing(tmp_path: Path, old: float, new: float, size: float) -> None:
    assert two(tmp_path, old, new, size=size).verdict == "different"


def test_nothing_is_said_where_such_a_weight_does_not_differ(tmp_path: Path) -> None:
    assert not two(tmp_path, 8e-6, 8e-6).notes


@pytest.mark.parametrize(
    ("old", "new", "loss"),
    [
        (2e-3, 3e-3, 1.0),  # it moves as others do
        (8e-6, 2e-3, 1.0),  # on one side only
        (2e-5, 0.0, 1.0),  # the other side does not train it
        (8e-6, -6e-6, 1.1),  # and the loss differs
        (8e-6, math.nan, 1.0),
    ],
)
def test_a_weight_that_moves_must_not_differ(tmp_path: Path, old: float, new: float, loss: float) -> None:
    report = two(tmp_path, old, new, loss)
    assert report.verdict == "different" and "bias" in texts(report)


@pytest.fixture
def sides(tmp_path: Path) -> tuple[Side, Side]:
    return Side(tmp_path, "old"), Side(tmp_path, "new")


def judge(sides: tuple[Side, Side], **options: Any) -> CaseReport:
    report = CaseReport("case", **options)
    compare(report, sides[0].reader(), sides[1].reader(), SECTIONS)
    return report


def texts(report: CaseReport) -> str:
    return "\n".join(map(str, report.differences))


def test_equal(sides: tuple[Side, Side]) -> None:
    for side in sides:
        side.train([3.0, 2.0]).evaluate(1, loss=2.0, auc=0.5).predict(1, p=np.ones((2, 1)))
    report = judge(sides)
    assert (report.verdict, report.differences) == ("equal", [])
    assert (len(report.losses), len(report.metrics), len(report.weights), len(report.predictions)) == (2, 2, 1, 1)


def test_first_step_and_variable_are_named(sides: tuple[Side, Side]) -> None:
    sides[0].train([3.0, 2.0, 1.0], [1.0, 1.0, 1.0])
    sides[1].train([3.0, 2.0, 1.1], [1.0, 1.1, 1.1])
    text = texts(judge(sides))
    assert "losses: step 3: first loss that differs: old 1, new 1.1" in text
    assert "weights first differ after step 2, most in w" in text
    assert "weights: w: differs by 0.1" in text


def test_nan_on_both_sides_is_not_equal(sides: tuple[Side, Side]) -> None:
    for side in sides:
        side.train([3.0, math.nan])
    report = judge(sides)
    assert report.verdict == "different"
    assert "step 2: the loss of the old program is not a finite number" in texts(report)


@pytest.mark.parametrize(("old", "new"), [(3, 2), (2, 3), (2, 0)])
def test_other_number_of_steps_is_a_difference(sides: tuple[Side, Side], old: int, new: int) -> None:
    sides[0].train([1.0] * old)
    sides[1].train([1.0] * new)
    report = judge(sides)
    assert report.verdict == "different" and "steps" in {difference.section for difference in report.differences}


@pytest.mark.parametrize(
    ("old", "new", "weights", "expected"),
    [
        ([1.0, 2.0], [1.1, 2.0], ([1.0, 1.0], [1.0, 1.0]), "the first loss differs: forward pass, loss or labels"),
        (
            [1.0, 2.0],
            [1.0, 2.1],
            ([1.0, 1.0], [1.1, 1.1]),
            "first loss equal, drift from step 2: optimizer, learning rate",
        ),
        (
            [3.0, 2.0, 1.0],
            [3.0, 2.0, 1.1],
            ([1.0] * 3, [1.0] * 3),
            "losses equal until step 2, and weights: what the loss",
        ),
        (
            [1.0, 2.0],
            [1.0, 2.0],
            ([1.0, 1.0], [1.0, 1.1]),
            "losses equal, weights drift from step 2: optimizer or gradients",
        ),
        ([1.0, 2.0], [1.0], ([1.0, 1.0], [1.0]), "what was trained is equal: how many steps are"),
        ([1.0, 2.0], [1.0], ([1.0, 3.0], [1.0]), "what was trained is equal: how many steps are"),
        ([1.0], [1.0], ([1.0], [1.0]), ""),
    ],
)
def test_the_likely_place_is_named(
    sides: tuple[Side, Side],
    old: list[float],
    new: list[float],
    weights: tuple[list[float], list[float]],
    expected: str,
) -> None:
    sides[0].train(old, weights[0])
    sides[1].train(new, weights[1])
    found = judge(sides).diagnosis
    assert found.startswith(expected) and bool(found) == bool(expected)


def test_of_evaluations_alone_it_is_said_as_well(sides: tuple[Side, Side]) -> None:
    for side, value in zip(sides, (0.5, 0.6)):
        side.train([1.0]).evaluate(1, mse=value)
    assert judge(sides).diagnosis.startswith("trainings are equal: metrics")


def test_labels_that_differ_are_counted(sides: tuple[Side, Side]) -> None:
    words = np.array([b"red", b"green", b"blue", b"red"], dtype=object)
    for side, shift in zip(sides, (0, 1)):
        side.predict(
            1,
            word=np.roll(words, shift),
            label=np.arange(4) % (4 - shift),
            p=np.array([1.0, np.nan][: 2 - shift] * (1 + shift)),
        )
    found = texts(judge(sides))
    assert "word: 3 of 4 differ" in found and "label: 1 of 4 differ" in found and "inf" not in found
    assert "p differs: no finite numbers are 1 of 2 in the old program, 0 of 2 in the new one" in found


def test_many_weights_are_one_line() -> None:
    rows = [ArrayRow("", f"dense_{n}/kernel", "m", (2,), n / 10, n / 10, False) for n in range(1, 6)]
    gone = [ArrayRow("", f"gone_{n}", "missing", (2,), math.inf, math.inf, False) for n in range(5)]
    assert list(map(str, _weight_differences([*gone, *rows], 12, Tolerance()))) == [
        "weights: 5 of 12, gone_0, gone_1, gone_2 and 2 more: missing, of another shape, or not a number",
        "weights: 5 of 12, most dense_5/kernel: differs by 0.5 (relative 0.5, allowed 1e-04)",
    ]
    assert len(_weight_differences(rows[:3], 12, Tolerance())) == 3


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"clipped": False}, "no gradient was clipped in 1 step"),
        ({"clipped": True}, ""),
        ({"regularization": 1e-7}, "regularizers are at most 1.0e-07 of the loss"),
        ({"regularization": 0.1}, ""),
        ({}, ""),
    ],
)
def test_what_was_not_exercised_is_said(sides: tuple[Side, Side], fields: dict[str, Any], expected: str) -> None:
    for side in sides:
        side.writer.event("step", stream=0, step=1, loss=1.0, batch=[None, None], sums={}, values={}, **fields)
    notes = [note for note in judge(sides).notes if "equality says" in note]
    assert [note.startswith(expected) for note in notes] == [True] * bool(expected)


def test_missing_calls_and_keys(sides: tuple[Side, Side]) -> None:
    sides[0].evaluate(1, loss=1.0, auc=0.5).evaluate(2, loss=1.0).predict(1, p=np.ones(2))
    sides[1].evaluate(1, loss=1.0, acc=0.5).predict(1, q=np.ones(2)).predict(2, q=np.ones(2))
    report = judge(sides)
    text = texts(report)
    assert "only the new program has the metrics acc" in report.notes and "acc" not in text
    for expected in (
        "evaluate call 2: is missing in the new program",
        "'auc' is missing in the new program",
        "'p' is missing in the new program",
        "predict call 2: is missing in the old program",
    ):
        assert expected in text


def test_what_a_canned_estimator_reports_unread_may_go(sides: tuple[Side, Side]) -> None:
    for kind in ("evaluate", "predict"):
        sides[0].writer.event("begin", kind=kind, call=1, stream=0, canned=True)
    sides[0].evaluate(1, loss=1.0, auc=0.5).predict(1, p=np.ones(2), q=np.ones(2)).evaluate(2, loss=1.0, auc=0.5)
    sides[1].evaluate(1, loss=1.0).predict(1, p=np.ones(2)).evaluate(2, loss=1.0)
    report = judge(sides)
    assert texts(report).count("missing") == 1 and "evaluate call 2: 'auc' is missing in the new program" in texts(
        report
    )
    assert "evaluate call 1: a canned Estimator also reports auc; the new program does not" in report.notes
    assert "predict call 1: a canned Estimator also reports q; the new program does not" in report.notes


@pytest.mark.parametrize("key", ["label/mean", "label/mean/my_head"])
def test_what_a_head_reports_may_go_but_not_what_the_program_added(sides: tuple[Side, Side], key: str) -> None:
    sides[0].writer.event("head", kind="evaluate", call=1)
    both = {"loss": 1.0, key: 0.5}
    sides[0].evaluate(1, **both, own=0.5).evaluate(2, **both)
    sides[1].evaluate(1, loss=1.0).evaluate(2, loss=1.0)
    report = judge(sides)
    assert f"evaluate call 1: a head also reports {key}; the new program does not" in report.notes
    assert texts(report).count("missing") == 2
    assert "call 1: 'own' is missing" in texts(report) and f"call 2: '{key}' is missing" in texts(report)


def test_the_only_output_needs_no_name(sides: tuple[Side, Side]) -> None:
    sides[0].predict(1, dense=np.ones(2)).predict(2, a=np.ones(2), b=np.ones(2))
    sides[1].predict(1, output=np.ones(2)).predict(2, output=np.ones(2))
    found = texts(judge(sides))
    assert "predict call 1" not in found and "predict call 2: 'a' is missing in the new program" in found


def test_metric_that_rounding_moved_counts_with_the_old_weights(sides: tuple[Side, Side]) -> None:
    sides[0].evaluate(1, auc=0.5, accuracy=0.25)
    sides[1].evaluate(1, auc=0.502, accuracy=0.3)
    sides[1].evaluate(1, "metrics_with_old_weights", auc=0.5, accuracy=0.3)
    report = judge(sides)
    assert [str(difference) for difference in report.differences] == [
        "metrics: evaluate call 1: accuracy: old 0.25, new 0.3"
    ]
    assert any("auc counts examples beyond thresholds" in note for note in report.notes)


def test_predictions_need_all_rows_unless_the_old_program_stopped_reading(tmp_path: Path) -> None:
    for complete, verdict in ((True, "different"), (False, "equal")):
        folder = tmp_path / verdict
        old = Side(folder, "old").predict(1, complete=complete, p=np.ones(2))
        assert judge((old, Side(folder, "new").predict(1, p=np.ones(4)))).verdict == verdict


def test_predictions_that_the_old_program_did_not_ask_for(tmp_path: Path) -> None:
    for chosen, verdict in ((True, "equal"), (False, "different")):
        folder = tmp_path / verdict
        old = Side(folder, "old").predict(1, p=np.ones(2))
        old.writer.event("begin", kind="predict", call=1, stream=0, **({"chosen": True} if chosen else {}))
        assert judge((old, Side(folder, "new").predict(1, p=np.ones(2), q=np.ones(2)))).verdict == verdict


def test_nothing_compared_is_no_pass(sides: tuple[Side, Side]) -> None:
    report = judge(sides)
    assert report.verdict == "could not run" and "nothing was compared" in report.problem


@given(st.floats(), st.floats())
def test_close_is_never_true_for_nan_and_always_for_the_same_number(old: float, new: float) -> None:
    tolerance = Tolerance()
    assert close(old, old, tolerance) == (not math.isnan(old))
    if math.isnan(old) or math.isnan(new):
        assert not close(old, new, tolerance)


@pytest.mark.parametrize(
    ("old", "new", "equal"),
    [
        ([1.0, 1e-9], [1.0, 2e-9], True),
        ([1.0, 2.0], [1.0, 2.01], False),
        ([1.0, math.nan], [1.0, math.nan], False),
        ([[1.0], [2.0]], [1.0, 2.0], True),
        ([1.0, 2.0], [1.0], False),
        ([0.0, 0.0], [0.0, 1e-3], False),
        ([0.0, 0.0], [0.0, 1e-8], True),
        ([math.inf], [1.0], False),
        ([], [], True),
    ],
)
def test_arrays_are_held_against_their_largest_value(old: list[Any], new: list[Any], equal: bool) -> None:
    assert arrays_close(*array_distance(old, new), Tolerance()) is equal


def test_strings_are_equal_or_not() -> None:
    old, new = np.array([b"a"], dtype=object), np.array([b"b"], dtype=object)
    assert arrays_close(*array_distance(old, old), Tolerance())
    assert not arrays_close(*array_distance(old, new), Tolerance())


@pytest.mark.parametrize(("kind", "verdict"), [("evaluate", "equal"), ("predict", "different")])
def test_the_order_of_batches_counts_in_predictions(tmp_path: Path, kind: str, verdict: str) -> None:
    sides = Side(tmp_path, "old"), Side(tmp_path, "new")
    for side, event, values in zip(sides, ("batch", "own"), ([1.0, 2.0], [2.0, 1.0])):
        side.writer.event("shuffle", text="Dataset.shuffle")
        features = side.writer.tree({"x": np.array(values, np.float32)})
        side.writer.event(event, kind=kind, call=1, batch=[features, None])
    report = judge(sides, mode="live")
    assert report.verdict == verdict and report.batches_compared == 1
    assert "the same examples in another order" in texts(report) + str(report.notes)

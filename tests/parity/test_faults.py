"""Every planted fault is found, and named; the program without a fault passes."""

from __future__ import annotations

from pathlib import Path
from typing import Callable

import pytest

from migrator.parity.judge.report import REPLAYED, CaseReport

pytest.importorskip("tensorflow_estimator")
Replay = Callable[..., CaseReport]


def found(report: CaseReport) -> str:
    return "\n".join(map(str, report.differences))


def test_equal_programs_pass_with_every_section_compared(replay: Replay) -> None:
    report = replay(mode="live")
    assert (report.verdict, found(report)) == ("equal", "")
    assert len(report.losses) == 8 and report.worst_loss < 1e-5
    assert {row.name for row in report.weights} >= {"wide/embedding", "hidden/kernel", "norm/moving_mean"}
    assert {row.key for row in report.metrics} == {"loss", "mse", "global_step"}
    assert {(row.name, row.shape) for row in report.predictions} == {("probability", (64, 2)), ("label", (64, 2))}
    assert report.batches_compared == 8 + 6 + 8
    assert any("dropout masks are equal" in note for note in report.notes)
    assert REPLAYED not in report.notes
    assert not Path("/tmp/parity-test-model-dir").exists(), "a hard-coded model_dir is moved into the sandbox"


@pytest.mark.parametrize(
    ("fault", "expected"),
    [
        # The first update is too long, so weights go first and the loss follows.
        ("learning rate", ["losses: step 2:", "weights first differ after step 1, most in"]),
        ("adam epsilon", ["weights first differ after step"]),
        ("sum for mean", ["losses: step 1:"]),
        ("labels swapped", ["losses: step 1:"]),
        ("no regulariser", ["losses: step 1:"]),
        ("dropout rate", ["losses: step 1:"]),
        ("re-initialised", ["losses: step 5:", "weights first differ after step 5"]),
        ("one step fewer", ["steps: the old program took 8 training steps, the new one 7"]),
        ("one training call", ["steps: the old program took 8 training steps, the new one 4"]),
        ("nan", ["losses: step 3: the loss of the new program is not a finite number"]),
        ("wrong metric", ["metrics: evaluate call 1: mse: old"]),
        ("metric renamed", ["'mse' is missing in the new program"]),
        ("prediction type", ["predictions: predict call 1: label: old int64, new int32"]),
        ("no export", ["exports: export to export: the new program writes no SavedModel"]),
        ("prediction key", ["'probability' is missing in the new program", "'p' is missing in the old program"]),
    ],
)
def test_fault_is_found(replay: Replay, fault: str, expected: list[str]) -> None:
    report = replay(fault)
    assert report.verdict == "different" and REPLAYED not in report.notes
    for text in expected:
        assert text in found(report)


@pytest.mark.parametrize(("fault", "variable"), [("initializer", "hidden/kernel"), ("bias initializer", "logits/bias")])
def test_another_initializer_is_seen_by_the_first_values_alone(replay: Replay, fault: str, variable: str) -> None:
    report = replay(fault)
    assert report.verdict == "different"
    assert found(report).startswith(f"initial values: {variable}: ") and len(report.differences) == 1


def test_dropout_left_on_is_seen_by_evaluation_and_prediction_alone(replay: Replay) -> None:
    report = replay("dropout left on")
    assert report.verdict == "different"
    assert "metrics: evaluate call 1: loss: old" in found(report)
    assert "predictions: predict call 1: probability differs" in found(report)
    assert all(row.equal for row in report.losses)
    assert all(row.equal for row in report.weights)


@pytest.mark.parametrize(
    ("fault", "expected"),
    [
        ("batch order", "training, batch 1: "),
        ("label order", "labels differs"),
        ("shuffle", "the new program shuffles its input, the old one does not"),
    ],
)
def test_live_mode_compares_the_batches_of_the_new_input(replay: Replay, fault: str, expected: str) -> None:
    report = replay(fault, mode="live")
    assert report.verdict == "different"
    assert expected in found(report)
    assert all(row.equal for row in report.losses), "the recorded batches are trained on in live mode, too"


def test_variable_without_partner_is_an_error_that_lists_both_sides(replay: Replay) -> None:
    report = replay("extra layer")
    assert report.verdict == "could not run"
    assert "extra [3]" in report.problem and "wide/embedding" in report.problem


def test_crash_shows_the_end_of_the_log_and_where_it_is(replay: Replay) -> None:
    report = replay("crash")
    assert report.verdict == "could not run"
    assert "RuntimeError: planted" in report.problem and "log.txt" in report.problem


def test_only_what_was_asked_for_is_compared(replay: Replay) -> None:
    report = replay("wrong metric", compare=("losses", "steps"))
    assert (report.verdict, report.metrics, report.weights) == ("equal", [], [])
    assert report.notes[-1] == REPLAYED

"""Rounding told from faults, by how far the old program goes from itself."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from test_compare import Side

from migrator.parity.judge.case import Case, Program
from migrator.parity.judge.compare import compare
from migrator.parity.judge.drift import ALLOWED, Again, Drift, drift_of, unlike
from migrator.parity.judge.recordings import Recorded, Recordings
from migrator.parity.judge.report import CaseReport, LossRow, SideReport
from migrator.parity.probe.recorded.nudge import nudged
from migrator.parity.probe.recorded.store import Reader, Writer
from migrator.parity.run import runner
from migrator.parity.run.progress import Progress
from migrator.parity.run.runner import run_case

PROGRAMS = Path(__file__).parent / "programs"
OLD = [1.0, 0.5, 0.25, 0.2]


def recording(folder: Path, side: str, losses: list[float], weight: float = 1.0, start: float = 3.0) -> Reader:
    made = Side(folder, side)
    entry = {"name": "w", "trainable": True, "value": made.writer.array(np.array([start, 2.0], np.float32))}
    made.writer.event("variables", stream=0, kind="train", call=1, variables=[entry])
    return made.train(losses, [weight] * len(losses)).evaluate(1, auc=losses[-1]).reader()


def judged(folder: Path, again: list[float], new: list[float], weights: tuple[float, float] = (1.0, 1.0)) -> CaseReport:
    """The verdict on `new`, where the second old run had the losses `again`; `weights` are those at their ends."""
    old = recording(folder, "old", OLD)
    recording(folder, "again", again, weights[0])
    itself, report = CaseReport("a"), CaseReport("a")
    compare(itself, old, Again(str(folder / "again")))
    compare(report, old, recording(folder, "new", new, weights[1]), drift=drift_of(itself))
    return report


def test_what_the_old_program_does_to_itself_is_rounding(tmp_path: Path) -> None:
    report = judged(tmp_path, [1.0, 0.5, 0.251, 0.201], [1.0, 0.5, 0.252, 0.203], (1.001, 1.002))
    assert report.verdict == "equal" and report.rounding == pytest.approx(3)
    assert [row.drift for row in report.losses] == pytest.approx([0, 0, 0.004, 0.005])
    assert all(row.equal for row in (*report.weights, *report.metrics))


def exported(folder: Path, side: str, score: float, call: int | None = None) -> Reader:
    """A recording of one export; that of a new program has its outputs by the export whose inputs they are for."""
    made = Side(folder, side)
    values = {"score": made.writer.array(np.array([score], np.float32))}
    signature = {"inputs": {}, "outputs": {}, "values": values if call is None else {str(call): values}}
    made.writer.event("export", call=1, folder="served", signatures={"predict": signature})
    return made.train([1.0], [1.0]).reader()


@pytest.mark.parametrize(("score", "verdict"), [(1.002, "equal"), (1.5, "different")])
def test_outputs_of_exports_drift_as_well(tmp_path: Path, score: float, verdict: str) -> None:
    old = exported(tmp_path, "old", 1.0)
    exported(tmp_path, "again", 1.001)
    itself, report = CaseReport("a"), CaseReport("a")
    compare(itself, old, Again(str(tmp_path / "again")))
    compare(report, old, exported(tmp_path, "new", score, call=1), drift=drift_of(itself))
    assert report.verdict == verdict


@pytest.mark.parametrize(
    ("again", "new", "weights"),
    [
        ([1.0, 0.5, 0.251, 0.2], [1.0, 0.501, 0.251, 0.2], (1.0, 1.0)),  # before there is any drift
        ([1.0, 0.5, 0.25001, 0.2], [1.0, 0.5, 0.2505, 0.2], (1.0, 1.0)),  # fifty times as far
        ([1.0, 0.5, 0.251, 0.2], [1.0, 0.5, 0.251, 0.2], (1.0, 1.1)),  # a weight that does not drift
        (OLD, [1.0, 0.5, 0.25, 0.201], (1.0, 1.0)),  # no drift at all
        ([1.0, 0.5, 0.251, 0.2], [1.0, 0.5, 0.251, float("nan")], (1.0, 1.0)),
        ([1.0, 0.5, 0.25, float("nan")], [1.0, 0.5, 0.25, 0.3], (1.0, 1.0)),
    ],
)
def test_what_goes_further_is_a_fault(
    tmp_path: Path, again: list[float], new: list[float], weights: tuple[float, float]
) -> None:
    assert judged(tmp_path, again, new, weights).verdict == "different"


def test_a_fault_is_told_as_a_multiple(tmp_path: Path) -> None:
    report = judged(tmp_path, [1.0, 0.5, 0.25001, 0.2], [1.0, 0.5, 0.2505, 0.2])
    assert "relative 0.002, 50 times what rounding does to this program" in str(report.differences[0])


def test_of_several_runs_the_furthest_counts() -> None:
    reports = [CaseReport("a", losses=[LossRow(0, 1, 1.0, 1.0, far, True)]) for far in (1e-6, 1e-3, 1e-5)]
    drift = Drift()
    for report in reports:
        drift = drift.and_of(report)
    assert drift.of("losses", "0", "1") == 1e-3


def test_the_limit_is_a_multiple_of_the_drift() -> None:
    drift = Drift({("losses", "0", "1"): 1e-4})
    assert drift.excuses(ALLOWED * 1e-4, "losses", "0", "1") and drift.excused == [pytest.approx(ALLOWED)]
    assert not drift.excuses(ALLOWED * 1.01e-4, "losses", "0", "1") and not drift.excuses(1e-9, "losses", "0", "2")


def test_runs_that_do_not_begin_alike_tell_nothing(tmp_path: Path) -> None:
    old = recording(tmp_path, "old", OLD)
    assert unlike(old, recording(tmp_path, "same", OLD, start=3.0000002)) == ""
    assert "begin with other values of w" in unlike(old, recording(tmp_path, "other", OLD, start=3.1))


def test_the_last_bit_is_changed_and_no_more() -> None:
    values = np.array([1.0, -2.5, 0.0, 1e-30], np.float32)
    changed = nudged(values, np.random.RandomState(1))
    assert not np.array_equal(changed, nudged(values, np.random.RandomState(2)))
    assert changed.dtype == np.float32 and changed[2] == 0
    assert (changed[[0, 1, 3]] != values[[0, 1, 3]]).all() and np.allclose(changed, values, 1.2e-7, 0)


def test_what_rounding_does_is_recorded_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A comparison with a kept recording of the old program is calibrated, too, and the old program runs once for it."""
    (tmp_path / "program").mkdir()
    (tmp_path / "program" / "train.py").write_text("pass\n")
    case = Case("a", Program(tmp_path / "program" / "train.py"))
    old = recording(tmp_path, "old", OLD)
    recording(tmp_path / "root" / "new", "recording", [1.0, 0.5, 0.252, 0.203])
    mapping = Writer(str(tmp_path / "mapping"))
    mapping.event("mapping", stream=0, pairs=[["w", "model/w", "name", [2]]])
    events = tmp_path / "root" / "new" / "recording" / "events.jsonl"
    events.write_text((tmp_path / "mapping" / "events.jsonl").read_text() + events.read_text())
    runs: list[int] = []

    def run_side(*given: object) -> Recorded:
        nudge, earlier = given[6:8]
        assert isinstance(nudge, int) and earlier == recorded.folder
        runs.append(nudge)
        return Recorded(Path(recording(tmp_path, "again", [1.0, 0.5, 0.251, 0.201]).folder), SideReport())

    recordings, recorded = Recordings(tmp_path / "kept"), Recorded(Path(old.folder), SideReport())
    monkeypatch.setattr(runner, "run_side", run_side)
    for _ in range(2):
        report = CaseReport("a")
        compare(report, old, Reader(str(tmp_path / "root" / "new" / "recording")))
        assert report.verdict == "different"
        judged = runner.calibrated(case, recorded, report, tmp_path / "root", Progress(quiet=True), recordings)
        assert judged.verdict == "equal" and judged.rounding == pytest.approx(3)
    assert runs == [1]


@pytest.mark.parametrize(
    ("losses", "aucs", "judgement", "runs"),
    [
        (
            [0.4, 0.40004],
            [0.7, 0.7, 0.702],
            "equal",
            2,
        ),  # the loss of the evaluation moves: the next run moves the AUC, too
        ([0.4, 0.40004], [0.7, 0.7, 0.7, 0.7, 0.7], "different", 4),
        ([0.4, 0.4], [0.7, 0.7, 0.702], "different", 1),  # nothing moves in this evaluation
    ],
)
def test_metrics_that_jump_are_moved_several_times(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, losses: list[float], aucs: list[float], judgement: str, runs: int
) -> None:
    def made(side: str, loss: float, auc: float) -> Recorded:
        start = {"name": "w", "trainable": True}
        one = Side(tmp_path, side)
        one.writer.event("mapping", stream=0, pairs=[["w", "model/w", "name", [2]]])
        value = one.writer.array(np.array([3.0, 2.0], np.float32))
        one.writer.event("variables", stream=0, kind="train", call=1, variables=[{**start, "value": value}])
        return Recorded(Path(one.train(OLD, [1.0] * 4).evaluate(1, loss=loss, auc=auc).reader().folder), SideReport())

    old, new = made("old", losses[0], aucs[0]), made("new/recording", losses[1], 0.71)
    nudges: list[object] = []

    def run_side(*given: object) -> Recorded:
        nudges.append(given[6])
        return made(f"again{len(nudges)}", losses[1], aucs[len(nudges)])

    monkeypatch.setattr(runner, "run_side", run_side)
    report = CaseReport("a")
    compare(report, Reader(str(old.folder)), Reader(str(new.folder)))
    case = Case("a", Program(tmp_path / "program.py"))
    judged = runner.calibrated(case, old, report, tmp_path, Progress(quiet=True))
    assert judged.verdict == judgement and nudges == list(range(1, runs + 1))


@pytest.mark.parity
def test_steps_are_those_of_each_training(tmp_path: Path) -> None:
    old, new = (Program(PROGRAMS / f"{side}.py") for side in ("old", "new"))
    report = run_case(Case("steps", old, new, steps=2), Progress(quiet=True), tmp_path)
    assert [row.step for row in report.losses] == [1, 2, 3, 4], "two trainings of two steps"
    assert report.verdict == "equal", report.differences


@pytest.mark.parity
def test_a_program_that_makes_much_of_little_is_not_different(tmp_path: Path) -> None:
    pytest.importorskip("tensorflow_estimator")
    old, new = (Program(PROGRAMS / f"sensitive_{side}.py") for side in ("old", "new"))
    report = run_case(Case("sensitive", old, new), Progress(quiet=True), tmp_path)
    assert report.verdict == "equal" and report.worst_loss > 1e-5 and 0 < report.rounding < ALLOWED
    assert any(note.startswith("calibrated: if the last bit") for note in report.notes)

"""Both programs are stopped, started again in the same places, and compared as they go on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from test_compare import Side

from migrator.parity.checkpoints.checkpoints import NOT_AT_START, compare_checkpoints
from migrator.parity.judge.case import Case, Program
from migrator.parity.judge.recordings import Recorded
from migrator.parity.judge.report import DIFFERENT, EQUAL, CaseReport, SideReport
from migrator.parity.run import runner, sandbox
from migrator.parity.run.migrate import migrate_copy
from migrator.parity.run.progress import Progress
from migrator.parity.run.resuming import compare_resumed

OLD = """\
import numpy as np
import tensorflow.compat.v1 as tf


def model_fn(features, labels, mode):
    output = tf.layers.dense(features["x"], 1, name="line")
    loss = tf.losses.mean_squared_error(labels, output)
    train_op = tf.train.MomentumOptimizer(0.1, 0.9).minimize(loss, global_step=tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def input_fn():
    x = np.random.RandomState(0).randn(64, 3).astype("float32")
    return tf.data.Dataset.from_tensor_slices(({"x": x}, x[:, :1])).repeat().batch(8)


tf.estimator.Estimator(model_fn, "/tmp/lines").train(input_fn, max_steps=9)
"""


class Runs:
    """Stands for what runs and compares sides."""

    def __init__(self, first: str) -> None:
        self.first = first
        self.asked: list[tuple[Any, ...]] = []

    def run_side(self, side: str, program: Program, root: Path, *rest: Any, state: Path | None = None) -> Recorded:
        (root / "recording").mkdir(parents=True, exist_ok=True)
        (root / "recording" / "events").write_text(side)
        self.asked.append((side, rest[1].steps, state and state.name))
        return Recorded(root / "recording", SideReport())

    def compare(self, case: Case, recorded: Recorded, root: Path, *rest: Any, state: Path | None = None) -> CaseReport:
        assert (recorded.folder / "events").read_text() == "old"
        assert case.new is not None
        self.run_side("new", case.new, root, None, case, state=state)
        return CaseReport("a", verdict=EQUAL if state else self.first)

    def calibrate(self, case: Case, recorded: Recorded, report: CaseReport, *rest: Any, **named: Any) -> CaseReport:
        return report


@pytest.mark.parametrize(("first", "runs"), [(EQUAL, 4), (DIFFERENT, 2)])
def test_programs_that_begin_alike_go_on(tmp_path: Path, first: str, runs: int) -> None:
    fake, program = Runs(first), Program(tmp_path / "a.py")
    case = Case("a", program, program, resume=3)
    report = compare_resumed(case, tmp_path, Progress(quiet=True), fake.run_side, fake.compare, fake.calibrate)
    assert fake.asked == [("old", 3, None), ("new", 3, None), ("old", 0, "old"), ("new", 0, "new")][:runs]
    assert report.verdict == first and len(report.notes) == 1 and "3 steps of each training" in report.notes[0]


def test_a_sandbox_is_left_as_a_run_has_left_it(tmp_path: Path) -> None:
    state = tmp_path / "state"
    for name in ("program/recording/checkpoint", "recording/events", "redirected/tmp/m/checkpoint", "tmp/x"):
        (state / name).parent.mkdir(parents=True, exist_ok=True)
        (state / name).write_text(name)
    (state / "log.txt").write_text("")
    (tmp_path / "box").mkdir()
    (tmp_path / "box" / "left").write_text("over")
    box = sandbox.again(tmp_path / "box", state)
    files = {str(path.relative_to(box.root)) for path in box.root.rglob("*") if path.is_file()}
    assert files == {"program/recording/checkpoint", "redirected/tmp/m/checkpoint", "tmp/x"}


@pytest.mark.parametrize(
    ("old", "new", "difference"),
    [
        ([12, "step", 27], [27], ""),
        (["step", 12, 27], [27], "old at steps 12, 27; new at steps 27"),
        ([12, "step", 27], [28], "old at steps 27; new at steps 28"),
    ],
)
def test_an_estimator_writes_anew_what_it_goes_on_from(
    tmp_path: Path, old: list[Any], new: list[Any], difference: str
) -> None:
    readers = []
    for side, steps in (("old", old), ("new", new)):
        made = Side(tmp_path, side)
        made.writer.event("cadence", folder="m")
        for step in steps:
            if step == "step":
                made.train([1.0])
            else:
                made.writer.event("checkpoint", folder="m", step=step, kept=[0, 12, 27] if side == "old" else [12, 27])
        readers.append(made.reader())
    report = CaseReport("a")
    found = compare_checkpoints(report, *readers)
    assert [one.message for one in found] == ([difference] if difference else [])
    assert not difference or found[0].where == "model"
    assert (NOT_AT_START in report.notes) == (old[0] == 12)


@pytest.mark.parity
@pytest.mark.parametrize("fault", ["", "never restored", "without the optimizer"])
def test_what_is_not_restored_is_found(tmp_path: Path, fault: str) -> None:
    pytest.importorskip("tensorflow_estimator")
    (tmp_path / "new.py").write_text(OLD)
    assert migrate_copy(tmp_path, "new.py").units
    (tmp_path / "old.py").write_text(OLD)
    text = (tmp_path / "new.py").read_text()
    for name, before, after in (
        ("never restored", "if checkpoints.latest_checkpoint:", "if False:"),
        (
            "without the optimizer",
            "Checkpoint(model=model)",
            "Checkpoint(net=model.layers, step=model.optimizer.iterations)",
        ),
    ):
        assert before in text
        text = text.replace(before, after) if name == fault else text
    (tmp_path / "new.py").write_text(text)
    case = Case("a", Program(tmp_path / "old.py"), Program(tmp_path / "new.py"), resume=4)
    report = runner.run_case(case, Progress(quiet=True), tmp_path / "kept")
    assert report.verdict == (DIFFERENT if fault else EQUAL), report.problem or report.differences
    assert len(report.losses) == 5

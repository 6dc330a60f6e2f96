"""Processes of a cluster that die: what goes on, what fails, and from where it goes on after a new start."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest
import tensorflow as tf
from cluster_processes import command, environment, kill
from line_program import checkpoint_steps

from migrator.parity.run.local_cluster import Run, Shape, run_cluster, started

ENDLESS = 1_000_000
pytestmark = [
    pytest.mark.parity,
    pytest.mark.skipif(hasattr(tf.keras, "ops"), reason="Keras 3 does not train on clusters"),
]


class Training:
    """Clusters that train one model, one after the other."""

    def __init__(self, folder: Path, root: Path) -> None:
        self.folder, self.model_dir = folder, folder / "model"
        self.env = environment(folder, root)

    def command(self, steps: int) -> Callable[[str, int], list[str]]:
        return lambda job, index: command(self.model_dir, "train", steps)

    def last(self) -> int:
        """The newest checkpoint."""
        return max(checkpoint_steps(self.model_dir), default=0) if self.model_dir.is_dir() else 0

    def noted(self) -> int:
        """The newest checkpoint that was finished: whoever is killed may leave another one that nobody goes on from."""
        first = (self.model_dir / "checkpoint").read_text().splitlines()[0]
        return int(first.rstrip('"').rpartition("-")[2])

    def wait_until(self, condition: Callable[[], bool], run: Run) -> None:
        deadline = time.monotonic() + 100
        while not condition():
            if time.monotonic() > deadline:
                pytest.fail("\n".join(run.log(f"{job}{index}").read_text()[-1500:] for job, index in run.processes))
            time.sleep(0.1)

    def finish(self, jobs: dict[str, int]) -> None:
        """A new cluster goes on from the newest checkpoint, for ten steps: it writes none but the last."""
        steps, before = self.noted() + 10, self.written()
        done = run_cluster(Shape(jobs), self.command(steps), self.folder / "again", self.folder, self.env, 150)
        assert not done.problem and not any(done.codes.values()), done.log("chief0").read_text()[-2000:]
        assert self.last() == steps
        assert {name for name, seconds in self.written().items() if before.get(name) != seconds} == {
            f"model.ckpt-{steps}.index"
        }

    def written(self) -> dict[str, float]:
        return {path.name: path.stat().st_mtime for path in self.model_dir.glob("*.index")}


@pytest.fixture
def training(tmp_path: Path, root: Path) -> Training:
    return Training(tmp_path, root)


def test_training_goes_on_without_a_killed_worker(training: Training) -> None:
    shape, folder = Shape({"ps": 1, "worker": 2, "chief": 1}), training.folder
    with started(shape, training.command(ENDLESS), folder / "logs", folder, training.env) as run:
        training.wait_until(lambda: training.last() > 20, run)
        kill(run, "worker", 1)
        steps = training.last()
        training.wait_until(lambda: training.last() > steps + 30, run)


def test_a_killed_parameter_server_ends_the_chief_and_training_resumes(training: Training) -> None:
    jobs, folder = {"ps": 2, "worker": 1, "chief": 1}, training.folder
    with started(Shape(jobs), training.command(ENDLESS), folder / "logs", folder, training.env) as run:
        training.wait_until(lambda: training.last() > 20, run)
        kill(run, "ps", 1)
        chief = run.processes["chief", 0]
        training.wait_until(lambda: chief.poll() is not None, run)
        assert chief.returncode != 0
        assert "/job:ps/replica:0/task:1" in run.log("chief0").read_text()
    training.finish(jobs)


def test_mirrored_workers_resume_after_one_was_killed(training: Training) -> None:
    jobs, folder = {"worker": 1, "chief": 1}, training.folder
    with started(Shape(jobs), training.command(ENDLESS), folder / "logs", folder, training.env) as run:
        training.wait_until(lambda: training.last() > 20, run)
        kill(run, "worker", 0)
        kill(run, "chief", 0)  # as what runs them would: TensorFlow finds out after a minute or two only
    training.finish(jobs)


def test_an_evaluator_that_comes_late_finds_the_last_checkpoint(training: Training) -> None:
    """Nobody waits for it: the others have ended when it starts."""
    folder = training.folder
    each = command(training.model_dir, "train_and_evaluate", 20)
    for jobs, logs in (({"worker": 1, "chief": 1}, "logs"), ({"evaluator": 1}, "late")):
        run = run_cluster(Shape(jobs), lambda job, index: each, folder / logs, folder, training.env, 150)
        assert not run.problem and not any(run.codes.values()), run.problem
        assert training.last() == 20
    assert '"global_step": 20' in run.log("evaluator0").read_text()


def test_training_ends_without_the_evaluator_that_it_was_to_have(training: Training) -> None:
    """Nobody waits for it, and nobody evaluates in its place: the others end."""
    folder = training.folder
    each = command(training.model_dir, "train_and_evaluate", 20)
    shape = Shape({"ps": 1, "worker": 1, "chief": 1})
    run = run_cluster(shape, lambda job, index: each, folder / "logs", folder, training.env, 150)
    assert not run.problem and not any(run.codes.values()), run.problem
    assert training.last() == 20
    assert "RESULT {}" in run.log("chief0").read_text()
    assert not list(training.model_dir.glob("eval*"))

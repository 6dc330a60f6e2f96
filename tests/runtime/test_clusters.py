"""One program in every process of a cluster: real processes, which all end by themselves."""

from __future__ import annotations

import json
import re
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from cluster_processes import GRAPH_PROGRAM, PROGRAM, SLURM_PROGRAM, command, environment, kill
from cluster_program import X, Y
from line_program import checkpoint_steps

from migrator.parity.run.local_cluster import Run, Shape, free_ports, run_cluster, started, wait
from migrator.parity.run.process import start

pytestmark = [
    pytest.mark.parity,
    pytest.mark.skipif(hasattr(tf.keras, "ops"), reason="Keras 3 does not train on clusters"),
]


def run(jobs: dict[str, int], folder: Path, what: str, steps: int, root: Path, program: Path = PROGRAM) -> Run:
    each = command(folder / "model", what, steps, program)
    done = run_cluster(Shape(jobs), lambda job, index: each, folder / "logs", folder, environment(folder, root), 150)
    logs = "\n".join(f"{name}: {done.log(name).read_text()[-1500:]}" for name in done.codes)
    assert not done.problem and not any(done.codes.values()), f"{done.problem} {done.codes}\n{logs}"
    return done


def result(done: Run, name: str) -> Any:
    (line,) = [line for line in done.log(name).read_text().splitlines() if line.startswith("RESULT ")]
    return json.loads(line[len("RESULT ") :])


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory, root: Path) -> Any:
    return result(run({"worker": 1}, tmp_path_factory.mktemp("alone"), "train", 20, root), "worker0")


def test_one_worker_and_parameter_servers_train_as_one_process(tmp_path: Path, alone: Any, root: Path) -> None:
    done = run({"chief": 1, "worker": 1, "ps": 2}, tmp_path, "train", 20, root)
    assert result(done, "chief0") == pytest.approx(alone, rel=1e-5)
    assert checkpoint_steps(tmp_path / "model") == [0, 10, 20]


def test_a_kept_graph_trains_on_clusters_as_in_one_process(tmp_path: Path, root: Path) -> None:
    alone = run({"worker": 1}, tmp_path / "alone", "train", 20, root, GRAPH_PROGRAM)
    done = run({"chief": 1, "worker": 1, "ps": 2}, tmp_path / "cluster", "train", 20, root, GRAPH_PROGRAM)
    trained = result(done, "chief0")
    assert trained == pytest.approx(result(alone, "worker0"), rel=1e-5)
    again = run({"worker": 1}, tmp_path / "cluster", "train", 20, root, GRAPH_PROGRAM)  # from the checkpoint
    mirrored = run({"chief": 1, "worker": 1}, tmp_path / "mirrored", "train", 20, root, GRAPH_PROGRAM)
    assert result(mirrored, "worker0") == pytest.approx(trained, rel=1e-5)  # whole: strategies drop the partitioner
    del trained["weights"]  # there are slots among them
    assert {name: result(again, "worker0")[name] for name in trained} == pytest.approx(trained, rel=1e-6)


def test_mirrored_workers_with_equal_batches_train_as_one_process(tmp_path: Path, alone: Any, root: Path) -> None:
    done = run({"chief": 1, "worker": 1, "evaluator": 1}, tmp_path, "train_and_evaluate", 20, root)
    assert result(done, "evaluator0") == pytest.approx(alone, rel=1e-5)
    assert result(done, "chief0") == result(done, "worker0") == {}
    assert checkpoint_steps(tmp_path / "model") == [0, 10, 20]
    assert len(list((tmp_path / "model").glob("events*"))) == 1  # the chief's


def test_mirrored_workers_save_when_the_clock_of_their_chief_says_so(tmp_path: Path, root: Path) -> None:
    run({"chief": 1, "worker": 1}, tmp_path, "train_by_the_clock", 200, root)
    steps = checkpoint_steps(tmp_path / "model")
    assert len(steps) > 3 and not any(step % 50 for step in steps)


def test_asynchronous_workers_a_master_and_an_evaluator(tmp_path: Path, root: Path) -> None:
    done = run({"master": 1, "worker": 2, "ps": 1, "evaluator": 1}, tmp_path, "train_and_evaluate", 40, root)
    metrics = result(done, "evaluator0")
    assert metrics["global_step"] == 40 and metrics["loss"] < 0.3
    (export,) = (tmp_path / "model" / "export" / "rows").iterdir()  # by the evaluator, of its last evaluation
    (values,) = tf.saved_model.load(str(export)).signatures["serving_default"](x=tf.constant(X[:18])).values()
    assert np.mean(np.abs(values - Y[:18])) == pytest.approx(metrics["mae"], rel=1e-5)


@pytest.mark.parametrize(("what", "jobs"), [("train", ["chief", "ps", "worker"]), ("mirrored", ["worker", "worker"])])
def test_tasks_of_slurm_find_each_other(tmp_path: Path, alone: Any, root: Path, what: str, jobs: list[str]) -> None:
    (port,) = free_ports(1)  # and those that follow, most likely

    def task(job: str, index: int) -> list[str]:
        rank = jobs.index(job) + index
        given = (rank, len(jobs), port, tmp_path / "model", what, 20)
        return [sys.executable, str(SLURM_PROGRAM), *map(str, given)]

    shape = Shape({job: jobs.count(job) for job in reversed(jobs)})
    done = run_cluster(shape, task, tmp_path / "logs", tmp_path, environment(tmp_path, root), 150)
    log = done.log(f"{jobs[0]}0")
    assert not done.problem and not any(done.codes.values()), log.read_text()[-2000:]
    assert result(done, f"{jobs[0]}0") == pytest.approx(alone, rel=1e-5)
    assert checkpoint_steps(tmp_path / "model") == [0, 10, 20]


def test_a_program_writes_tf_config_from_its_flags(tmp_path: Path, root: Path) -> None:
    hosts = [f"127.0.0.1:{port}" for port in free_ports(3)]
    program = root / "fixtures" / "distribution" / "sharded_tables" / "after.py"
    flags = [f"--ps_hosts={hosts[0]}", f"--worker_hosts={hosts[1]},{hosts[2]}", f"--model_dir={tmp_path / 'model'}"]

    def task(job: str, index: int) -> list[str]:
        return [sys.executable, str(program), *flags, f"--job_name={job}", f"--task_index={index}"]

    shape = Shape({"ps": 1, "worker": 2})  # the first of which is the chief
    done = run_cluster(shape, task, tmp_path / "logs", tmp_path, environment(tmp_path, root), 150)
    assert not done.problem and not any(done.codes.values()), done.log("worker0").read_text()[-2000:]
    assert checkpoint_steps(tmp_path / "model")[-1] == 40


def test_a_program_makes_the_strategy_of_its_cluster(tmp_path: Path, root: Path) -> None:
    program = root / "fixtures" / "partitioners" / "min_max" / "after.py"  # whose variables start with zeros

    def evaluated(jobs: dict[str, int]) -> list[float]:
        folder, shape = (
            tmp_path / "-".join(jobs),
            Shape(jobs, frozenset({"worker", "ps"}) if "ps" in jobs else frozenset(), 0.0),
        )
        each = [sys.executable, str(program), "--max_steps=40"]
        folder.mkdir()
        done = run_cluster(shape, lambda job, index: each, folder / "logs", folder, environment(folder, root), 150)
        text = done.log(f"{[*jobs][-1]}0").read_text()
        assert not done.problem and not any(done.codes.values()), text[-2000:]
        return [float(number) for number in re.findall(r"'(?:loss|accuracy)': ([0-9.]+)", text)]

    alone = evaluated({"worker": 1})
    assert len(alone) == 2 and evaluated({"ps": 2, "worker": 1, "chief": 1}) == pytest.approx(alone, rel=1e-5)


def test_a_killed_chief_finds_its_servers_again(tmp_path: Path, alone: Any, root: Path) -> None:
    shape, folder = Shape({"chief": 1, "worker": 1, "ps": 1}), tmp_path / "model"
    env, endless = environment(tmp_path, root), command(folder, "train", 100_000)
    with started(shape, lambda job, index: endless, tmp_path / "logs", tmp_path, env) as first:
        deadline = time.monotonic() + 100
        while time.monotonic() < deadline and not (folder.is_dir() and len(checkpoint_steps(folder)) > 2):
            time.sleep(0.1)
        kill(first, "chief", 0)
        steps = checkpoint_steps(folder)[-1]
        assert all(first.processes[task].poll() is None for task in (("worker", 0), ("ps", 0)))
        again = command(folder, "train", steps + 10)
        own = {**env, "TF_CONFIG": first.tf_configs["chief", 0]}
        first.processes["chief", 0] = start(again, tmp_path / "again.log", tmp_path, own)
        wait(first, shape, 100)
    assert not first.problem, (tmp_path / "again.log").read_text()[-2000:]
    assert checkpoint_steps(folder)[-1] == steps + 10
    assert set(first.codes.values()) == {0}

"""Steps per second of a program before and after migration on the same cluster of processes of this machine.

    python benchmarks/distributed.py [--steps 2000] [--rounds 3] [--trainers 1 2] [--timeout 300] [--json FILE]

The program is the fixture `distribution/sharded_tables`, with two parameter servers and as MultiWorkerMirroredStrategy. Both
sides have as many trainers: the chief of an Estimator trains, that of a Keras program with parameter servers only
coordinates. They take turns, so that other load on the machine hits both; medians of the rounds are shown, and a ratio above 1
says that the new program is faster. The first fifth of the steps, in which graphs are built, does not count. With parameter
servers, steps are those of all trainers together. All processes share the processors of one machine: how speed grows with the
number of trainers says what the coordination costs, not what several machines would bring.
"""

from __future__ import annotations

import argparse
import dataclasses
import importlib
import json
import os
import runpy
import statistics
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from training import rates

from migrator.parity.run.clusters import Cluster
from migrator.parity.run.local_cluster import Run, Shape, run_cluster

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = ROOT / "fixtures" / "distribution" / "sharded_tables"
TAG = "global_step/sec"
"""The summary that both sides write every few steps."""
EVERY = 100
"""Steps between summaries, log lines and checkpoints, the default of Estimators for the first two."""
HEADER = "| cluster | trainers | Estimator steps/s | Keras steps/s | ratio |\n| --- | ---: | ---: | ---: | ---: |\n"


@dataclass(frozen=True)
class Comparison:
    """Medians for one cluster, and the median of the ratios of the rounds."""

    cluster: str
    trainers: int
    old: float
    new: float
    ratio: float


def clusters(trainers: Sequence[int]) -> list[Cluster]:
    """What is compared."""
    kinds = [("parameter servers", 2), ("mirrored workers", 0)]
    return [Cluster(text, number, servers, evaluator=False) for text, servers in kinds for number in trainers]


def shape(cluster: Cluster, side: str) -> Shape:
    """The processes of one side; nobody evaluates."""
    full = cluster.shape(side)
    return dataclasses.replace(full, jobs={job: number for job, number in full.jobs.items() if job != "evaluator"})


def rate(marks: Sequence[tuple[int, float]]) -> float:
    """Steps per second between the first mark (step, time) after the warm-up and the last one, in any order.

    Raises ValueError where the marks do not span two moments.
    """
    return rates(sorted(marks))[0]


def compared(cluster: Cluster, old: Sequence[float], new: Sequence[float]) -> Comparison:
    """Medians over rounds; the two sides of a round ran one after the other."""
    ratio = statistics.median(after / before for before, after in zip(old, new))
    return Comparison(cluster.text, cluster.trainers, statistics.median(old), statistics.median(new), ratio)


def table(found: Sequence[Comparison]) -> str:
    """The table in Markdown."""
    rows = [f"| {c.cluster} | {c.trainers} | {c.old:.0f} | {c.new:.0f} | {c.ratio:.2f} |\n" for c in found]
    return HEADER + "".join(rows)


def marks_of(folder: Path) -> list[tuple[int, float]]:
    """Step and time of each summary of the speed in the event files of a folder."""
    import tensorflow as tf

    tf.get_logger().setLevel("ERROR")  # the reader of event files is deprecated
    found = []
    for path in folder.glob("events.out.tfevents.*"):
        for event in tf.compat.v1.train.summary_iterator(str(path)):
            if any(value.tag == TAG for value in event.summary.value):
                found.append((int(event.step), float(event.wall_time)))
    return found


# -- in each process of a side ------------------------------------------------------------------------------------------


def run_side(side: str, arguments: Sequence[str]) -> None:
    """Run the program as one process of its cluster."""
    entry = "before.py" if side == "old" else "after.py"
    sys.argv = [entry, *arguments]
    sys.path.insert(0, os.getcwd())
    if side == "old":
        probe = importlib.import_module("migrator.parity.probe_entry")
        probe.load_probe("tf1.dialect").install(os.getcwd())
        probe.load_probe("clusters").hasten_estimators(0, "--mirrored" in arguments)
    runpy.run_path(entry, run_name="__main__")


# -- in the process that compares ---------------------------------------------------------------------------------------


def measure(side: str, cluster: Cluster, steps: int, timeout: float) -> float:
    """Steps per second of one side. Raises RuntimeError with the end of a log where a process fails."""
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        program, model = root / "program", root / "model"
        program.mkdir()
        for file in ("before.py",) if side == "old" else ("after.py", "tf2_training.py", "tf2_cluster.py"):
            (program / file).write_bytes((PROGRAM / file).read_bytes())
        arguments = [f"--max_steps={steps}", f"--save_every={EVERY}", f"--model_dir={model}"]
        arguments += [] if cluster.servers else ["--mirrored"]
        command = [sys.executable, str(Path(__file__).resolve()), "--side", side, "--", *arguments]
        env = dict(os.environ, TF_CPP_MIN_LOG_LEVEL="2", CUDA_VISIBLE_DEVICES="-1", TMPDIR=name)
        run = run_cluster(shape(cluster, side), lambda job, index: command, root / "logs", program, env, timeout)
        if run.problem:
            raise RuntimeError(f"{side}, {cluster.text}: {run.problem}\n{_tail(run)}")
        return rate(marks_of(model))


def _tail(run: Run) -> str:
    log = run.log(run.first or "chief0")
    return "\n".join(log.read_text("utf-8", "replace").splitlines()[-20:]) if log.exists() else ""


def main() -> None:
    """Compare, and print the table."""
    parser = argparse.ArgumentParser(description="speed of a program on a local cluster before and after migration")
    parser.add_argument("--steps", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--trainers", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--timeout", type=float, default=300.0, help="seconds for one training")
    parser.add_argument("--json", type=Path, metavar="FILE")
    parser.add_argument("--side", choices=("old", "new"), help=argparse.SUPPRESS)
    parser.add_argument("arguments", nargs="*", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.side:
        run_side(options.side, options.arguments)
        return
    found = []
    for cluster in clusters(options.trainers):
        sides: dict[str, list[float]] = {"old": [], "new": []}
        for _ in range(options.rounds):
            for side, measured in sides.items():
                measured.append(measure(side, cluster, options.steps, options.timeout))
        found.append(compared(cluster, sides["old"], sides["new"]))
        print(f"{cluster.text}, {cluster.trainers}: {found[-1].ratio:.2f}", file=sys.stderr)
    print(table(found), end="")
    if options.json:
        options.json.write_text(json.dumps([asdict(comparison) for comparison in found], indent=2) + "\n")


if __name__ == "__main__":
    main()

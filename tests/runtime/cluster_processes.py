"""Processes of clusters in tests: forks of one interpreter that has imported TensorFlow, where processes can be forked."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

from migrator.parity.run import process, warm
from migrator.parity.run.local_cluster import Run

FOLDER = Path(__file__).resolve().parent
PROGRAM = FOLDER / "cluster_program.py"
GRAPH_PROGRAM = FOLDER / "cluster_graph_program.py"
SLURM_PROGRAM = FOLDER / "cluster_slurm_program.py"

warm.SCRIPTS.update((str(PROGRAM), str(GRAPH_PROGRAM), str(SLURM_PROGRAM)))


def command(model_dir: Path, what: str, steps: int, program: Path = PROGRAM) -> list[str]:
    """What each process of a cluster runs."""
    return [sys.executable, str(program), str(model_dir), what, str(steps)]


def environment(folder: Path, root: Path) -> dict[str, str]:
    """That of each process, with temporary files in `folder`."""
    return process.environment(str(folder), PYTHONPATH=os.pathsep.join((str(root), str(FOLDER))))


def kill(run: Run, job: str, index: int) -> None:
    """Kill a process of a cluster, and wait until it is gone."""
    os.kill(run.processes[job, index].pid, signal.SIGKILL)
    run.processes[job, index].wait()

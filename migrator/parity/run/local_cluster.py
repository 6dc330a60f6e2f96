"""A cluster of real processes on this machine, each with its TF_CONFIG, a log and a time limit."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import socket
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from migrator.cli.interrupts import put_off
from migrator.parity.run import warm
from migrator.parity.run.failures import status_text
from migrator.parity.run.process import POLL_SECONDS, end, start
from migrator.parity.run.warm import Child

GRACE_SECONDS = 10.0
"""How long the others may go on once a process has failed, and most servers once all others are done."""

TRAINERS = frozenset({"chief", "master", "worker"})
IDLE_SECONDS = 30.0
"""How long trainers may do next to nothing once another one has ended without an error; twice as long where none has."""
BUSY = 0.05
"""What is more than next to nothing, in CPU seconds a second."""

_PORT_TAKEN = re.compile("Could not start gRPC server|Address already in use")
_ATTEMPTS = 3


@dataclass(frozen=True)
class Shape:
    """How many processes a cluster has of each job, such as ``{"chief": 1, "worker": 2}``."""

    jobs: Mapping[str, int]
    services: frozenset[str] = frozenset()
    """Jobs whose processes need not end by themselves."""
    service_seconds: float = GRACE_SECONDS
    """How long services may go on once all others are done; those that never end need not be waited for."""
    evaluator_listed: bool = False
    """Whether an evaluator has an address in the cluster; in TF_CONFIG as TFJob writes it, it has none."""

    def tasks(self) -> list[tuple[str, int]]:
        """Each process as (job, index), those that others wait for last."""
        return [(job, index) for job, number in self.jobs.items() for index in range(number)]


@dataclass
class Run:
    """A cluster that is running or has ended."""

    folder: Path
    processes: dict[tuple[str, int], Child] = field(default_factory=dict)
    tf_configs: dict[tuple[str, int], str] = field(default_factory=dict)
    problem: str = ""
    """Why the cluster was ended, where it did not end by itself."""
    first: str = ""
    """The process that failed first."""
    codes: dict[str, int] = field(default_factory=dict)
    """Exit status by name, such as ``worker0``; that of a service which had to be ended is 0."""

    def log(self, name: str) -> Path:
        """The log of a process by its name."""
        return self.folder / f"{name}.log"


def free_ports(number: int) -> list[int]:
    """Ports of 127.0.0.1 that nobody listens at, all different."""
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(number)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]


def tf_configs(shape: Shape) -> dict[tuple[str, int], str]:
    """TF_CONFIG of each process."""
    tasks = shape.tasks()
    cluster: dict[str, list[str]] = {}
    for (job, _), port in zip(tasks, free_ports(len(tasks))):
        if job != "evaluator" or shape.evaluator_listed:
            cluster.setdefault(job, []).append(f"127.0.0.1:{port}")
    return {(job, i): json.dumps({"cluster": cluster, "task": {"type": job, "index": i}}) for job, i in tasks}


@contextlib.contextmanager
def started(
    shape: Shape, command: Callable[[str, int], Sequence[str]], folder: Path, cwd: Path, env: Mapping[str, str]
) -> Iterator[Run]:
    """Start all processes; when the block is left, in whatever way, those that still run are ended by their ids."""
    run = Run(folder)
    folder.mkdir(parents=True, exist_ok=True)
    try:
        run.tf_configs = tf_configs(shape)
        for (job, index), tf_config in run.tf_configs.items():
            own = {**env, "TF_CONFIG": tf_config, "no_proxy": "*"}
            process_command = command(job, index)
            warm.prepare(process_command, own)
            with put_off():
                run.processes[job, index] = start(process_command, run.log(f"{job}{index}"), cwd, own)
        yield run
    finally:
        alive = {task for task, process in run.processes.items() if process.poll() is None}
        end_all(run.processes.values())
        for (job, index), process in run.processes.items():
            run.codes[f"{job}{index}"] = 0 if (job, index) in alive and job in shape.services else process.returncode


def end_all(processes: Iterable[Child]) -> None:
    """End processes with their groups; also where somebody loses patience while they are asked to."""
    waiting = [process for process in processes if process.poll() is None]
    for process in waiting:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGTERM)
    for number, process in enumerate(waiting):
        try:
            end(process)
        except BaseException:
            for late in waiting[number:]:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.killpg(late.pid, signal.SIGKILL)
            raise


def wait(run: Run, shape: Shape, timeout: float, on_poll: Callable[[float], None] = lambda seconds: None) -> None:
    """Wait until all but the services have ended, one has failed and had its grace, or `timeout` seconds are over."""
    begin, failed_at = time.monotonic(), None
    idle = Idle(shape)
    while True:
        codes = {task: process.poll() for task, process in run.processes.items()}
        if all(code is not None for (job, _), code in codes.items() if job not in shape.services):
            break
        now = time.monotonic()
        on_poll(now - begin)
        if failed_at is None and any(codes.values()):
            failed_at = now
            run.first = next(f"{job}{index}" for (job, index), code in codes.items() if code)
        if failed_at is not None and now > failed_at + GRACE_SECONDS:
            break
        if waiting := idle.look(run, codes, now):
            run.problem = waiting
            return
        if now > begin + timeout:
            run.problem = f"ran longer than {timeout:.0f} s"
            return
        time.sleep(POLL_SECONDS)
    quiet = time.monotonic() + shape.service_seconds
    while time.monotonic() < quiet and any(process.poll() is None for process in run.processes.values()):
        time.sleep(POLL_SECONDS)
    failed = [f"{job}{index}" for (job, index), process in run.processes.items() if process.poll()]
    if failed:
        run.problem = f"{', '.join(failed)}: {status_text(run.processes[_task(failed[0])].returncode or 0)}"


class Idle:
    """Sees that trainers wait for one that has ended, or for each other, which would last until their time is over."""

    def __init__(self, shape: Shape) -> None:
        self._shape = shape
        self._since: tuple[float, float] | None = None
        """When one was first seen to have ended, and the CPU seconds that the others had used."""

    def look(self, run: Run, codes: Mapping[tuple[str, int], int | None], now: float) -> str:
        """Who waits for whom; empty where nobody does, as far as is known."""
        trainers = {task: code for task, code in codes.items() if task[0] in TRAINERS - self._shape.services}
        ended = [task for task, code in trainers.items() if code == 0]
        alive = [task for task, code in trainers.items() if code is None]
        used = [cpu_seconds(run.processes[task].pid) for task in alive]
        if not alive or None in used or any(codes.values()):
            return ""
        total = sum(seconds for seconds in used if seconds is not None)
        if self._since is None or total - self._since[1] > BUSY * (now - self._since[0]) + 0.5:
            self._since = (now, total)
        if now - self._since[0] < (1 if ended else 2) * IDLE_SECONDS:
            return ""
        names = [", ".join(f"{job}{index}" for job, index in tasks) for tasks in (ended, alive)]
        what = f"{names[0]} has ended, and {names[1]} still waits" if ended else f"{names[1]} wait for each other"
        if "ps" in self._shape.services:
            return what
        return (
            f"{what}. A program whose RunConfig has no train_distribute does not train on several machines: give it a strategy, "
            "or leave out --cluster"
        )


def cpu_seconds(group: int) -> float | None:
    """What the processes of a group have computed so far; None where that cannot be known."""
    total = 0.0
    try:
        for entry in os.scandir("/proc"):
            if entry.name.isdigit():
                with contextlib.suppress(OSError, ValueError, IndexError):
                    fields = Path(entry.path, "stat").read_text("utf-8", "replace").rpartition(")")[2].split()
                    if int(fields[2]) == group:
                        total += (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    except OSError:
        return None
    return total


def run_cluster(
    shape: Shape,
    command: Callable[[str, int], Sequence[str]],
    folder: Path,
    cwd: Path,
    env: Mapping[str, str],
    timeout: float,
) -> Run:
    """Run a cluster to its end. Starts it anew, on other ports, where a port was taken in the meantime."""
    for _ in range(_ATTEMPTS):
        with started(shape, command, folder, cwd, env) as run:
            wait(run, shape, timeout)
        if not run.problem or not port_was_taken(run):
            break
    return run


def port_was_taken(run: Run) -> bool:
    """Whether a process did not get the port that was free a moment before."""
    return any(_PORT_TAKEN.search(_text(run.log(name))) for name in run.codes)


def _task(name: str) -> tuple[str, int]:
    job = name.rstrip("0123456789")
    return job, int(name[len(job) :])


def _text(path: Path) -> str:
    return path.read_text("utf-8", "replace") if os.path.exists(path) else ""

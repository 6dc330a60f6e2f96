"""Worker processes that may die or hang without harm to anything but the task they were at."""

from __future__ import annotations

import contextlib
import functools
import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from multiprocessing import connection
from multiprocessing.context import BaseContext
from multiprocessing.process import BaseProcess
from typing import Any


@dataclass(frozen=True)
class Died:
    """The worker ended during a task; `code` is its exit code, negative for a signal."""

    code: int | None


@dataclass(frozen=True)
class TimedOut:
    """The task took more CPU time than it may, or waited far too long."""

    seconds: float


class TimeLimit(BaseException):
    """Raised in this process when `time_limit` runs out; no `except Exception` swallows it."""


_PATIENCE = 10
"""How many times its CPU time a task may last: on a busy machine all do, and one that waits for ever does not."""

_OUT_OF_TIME = -signal.SIGPROF if hasattr(signal, "SIGPROF") else None
"""Exit code of a worker that used up its time."""

_AHEAD = 2
"""Tasks that a worker holds: while this process takes a result in, the worker is at the next one already."""


@dataclass
class _Worker:
    process: BaseProcess
    pipe: connection.Connection
    tasks: list[int] = field(default_factory=list)
    """What it was given and has not answered; it works on the first one."""
    deadline: float = 0.0
    """Of the first one."""


def _serve(
    function: Callable[[Any], Any],
    tasks: Sequence[Any] | None,
    tired: Callable[[], bool],
    timeout: float,
    pipe: connection.Connection,
    others: Sequence[connection.Connection],
) -> None:
    """Life of a worker: take a task, or its place in `tasks`, send its result and whether it was the last one it takes,
    until the pipe is closed or broken."""
    for other in others:  # a pipe ends only when nobody holds its other end any more
        other.close()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's business
    threading.Thread(target=_end_with_the_parent, daemon=True).start()
    with contextlib.suppress(EOFError, OSError):
        last = False
        while not last:
            given = pipe.recv()
            _count_down(timeout)
            result = function(given if tasks is None else tasks[given])
            _count_down(0)
            last = tasks is not None and tired()
            pipe.send((result, last))


def _end_with_the_parent() -> None:
    """End this worker in the midst of its task when its parent was killed, which cannot end it any more."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
        os._exit(1)


def _count_down(seconds: float) -> None:
    """Send this process SIGPROF when it has used so much CPU time, which ends a worker; 0 calls it off. Without effect where
    there are no such signals."""
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_PROF, seconds)


def default_context() -> BaseContext:
    """Fork where it is cheap and safe, else spawn."""
    forks = "fork" in multiprocessing.get_all_start_methods() and os.uname().sysname == "Linux"
    return multiprocessing.get_context("fork" if forks and threading.active_count() == 1 else "spawn")


def _never() -> bool:
    return False


def run_tasks(
    function: Callable[[Any], Any],
    tasks: Sequence[Any],
    jobs: int,
    timeout: float,
    context: BaseContext | None = None,
    tired: Callable[[], bool] = _never,
) -> Iterator[tuple[int, Any]]:
    """Yield number and result of every task, as they finish. The result is `Died` or `TimedOut` where there is none.

    Args:
      function: importable; called with one task in a worker. It should not raise.
      tasks: what to call it with; picklable.
      jobs: number of workers.
      timeout: seconds of CPU time for one task.
      tired: asked in a forked worker after each task, whether another worker is to take its place.
    """
    context = context or default_context()
    forks = context.get_start_method() == "fork"
    start = functools.partial(_start, context, function, tasks if forks else None, tired, timeout)
    given = range(len(tasks)) if forks else tasks  # what is forked holds the tasks already
    waiting = list(range(len(tasks)))[::-1]
    workers: list[_Worker] = []
    ended: list[_Worker] = []
    try:
        while waiting or workers:
            while waiting and len(workers) < jobs:
                workers.append(start(workers))
            for held in range(_AHEAD):
                for worker in workers:
                    if waiting and len(worker.tasks) == held:
                        _give(worker, waiting.pop(), given, timeout)
            for worker in [worker for worker in workers if not worker.tasks]:
                _end(worker, workers, ended, waiting)
            yield from _collect(workers, ended, waiting, timeout)
    finally:
        for worker in workers:
            worker.process.terminate()
        for worker in [*workers, *ended]:
            _stop(worker)


def _start(
    context: BaseContext,
    function: Callable[[Any], Any],
    tasks: Sequence[Any] | None,
    tired: Callable[[], bool],
    timeout: float,
    others: Sequence[_Worker],
) -> _Worker:
    """A worker; one that is forked holds `tasks`, and the pipes of the others until it closes them."""
    ours, theirs = context.Pipe()
    inherited = [] if tasks is None else [ours, *(worker.pipe for worker in others)]
    arguments = (function, tasks, tired, timeout, theirs, inherited)
    process = context.Process(target=_serve, args=arguments, daemon=True)  # type: ignore[attr-defined]
    with _interrupts_blocked():
        process.start()
    theirs.close()
    return _Worker(process, ours)


@contextlib.contextmanager
def _interrupts_blocked() -> Iterator[None]:
    """A worker inherits this, so that Ctrl-C while it starts does not make it print a traceback."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _give(worker: _Worker, number: int, given: Sequence[Any], timeout: float) -> None:
    if not worker.tasks:
        worker.deadline = time.monotonic() + _PATIENCE * timeout
    worker.tasks.append(number)
    with contextlib.suppress(OSError):  # a worker that is dead already is noticed when its result is read
        worker.pipe.send(given[number])


def _collect(
    workers: list[_Worker], ended: list[_Worker], waiting: list[int], timeout: float
) -> Iterator[tuple[int, Any]]:
    """Wait for the first results; workers that died or hang are dropped, and what they did not come to waits again."""
    busy = list(workers)
    if not busy:
        return
    patience = max(0.0, min(worker.deadline for worker in busy) - time.monotonic())
    ready = connection.wait([worker.pipe for worker in busy], patience)
    for worker in busy:
        if worker.pipe in ready:
            number = worker.tasks.pop(0)
            worker.deadline = time.monotonic() + _PATIENCE * timeout
            try:
                result, last = worker.pipe.recv()
                if last:
                    _end(worker, workers, ended, waiting)
            except (EOFError, OSError):
                _end(worker, workers, ended, waiting)
                _stop(worker)
                code = worker.process.exitcode
                result = TimedOut(timeout) if code is not None and code == _OUT_OF_TIME else Died(code)
            yield number, result
        elif time.monotonic() >= worker.deadline:
            number = worker.tasks.pop(0)
            worker.process.kill()
            _end(worker, workers, ended, waiting)
            yield number, TimedOut(timeout)


def _end(worker: _Worker, workers: list[_Worker], ended: list[_Worker], waiting: list[int]) -> None:
    """Take a worker off the list; it goes when its pipe is closed, which nobody has to wait for now."""
    workers.remove(worker)
    ended.append(worker)
    waiting.extend(reversed(worker.tasks))
    worker.tasks.clear()
    worker.pipe.close()


def _stop(worker: _Worker) -> None:
    worker.pipe.close()
    worker.process.join(timeout=5)
    if worker.process.is_alive():
        worker.process.kill()
        worker.process.join()


@contextlib.contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise `TimeLimit` in the body when it has used so many seconds of CPU time, or waits far too long; without effect where
    there are no such signals."""
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return

    def ring(signum: int, frame: object) -> None:
        raise TimeLimit

    timers = {signal.SIGPROF: (signal.ITIMER_PROF, seconds), signal.SIGALRM: (signal.ITIMER_REAL, _PATIENCE * seconds)}
    before = {number: signal.signal(number, ring) for number in timers}
    try:
        for timer, limit in timers.values():
            signal.setitimer(timer, limit)
        yield
    finally:
        for timer, _ in timers.values():
            signal.setitimer(timer, 0)
        for number, handler in before.items():
            signal.signal(number, handler)

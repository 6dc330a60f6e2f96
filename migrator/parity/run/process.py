"""Child processes: each has a name, a log file, a time limit, and an owner that ends it with its whole group."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Callable

from migrator.cli.interrupts import put_off
from migrator.parity.run import warm
from migrator.parity.run.warm import Child

_FRAME = re.compile(r'\s*File "(.+)", line \d+')

POLL_SECONDS = 0.1
GRACE_SECONDS = 4.0


@dataclass(frozen=True)
class Ended:
    """How a child ended."""

    name: str
    returncode: int
    seconds: float
    timed_out: bool
    log: str


def run(
    name: str,
    command: list[str],
    log: str,
    cwd: str,
    env: Mapping[str, str],
    timeout: float,
    on_poll: Callable[[float], None] = lambda seconds: None,
) -> Ended:
    """Run `command` to its end or for `timeout` seconds, with its output in the file `log`.

    The child leads a process group of its own, which is ended also when this call is interrupted. Raises OSError if
    the command cannot be started.
    """
    begin, timed_out, child = time.monotonic(), False, None
    warm.prepare(command, env)
    try:
        with put_off():
            child = start(command, log, cwd, env)
        while child.poll() is None:
            seconds = time.monotonic() - begin
            if seconds > timeout:
                timed_out = True
                break
            on_poll(seconds)
            time.sleep(POLL_SECONDS)
    finally:
        if child is not None:
            end(child)
    return Ended(name, child.returncode, time.monotonic() - begin, timed_out, log)


def start(command: Sequence[str], log: str | Path, cwd: str | Path, env: Mapping[str, str]) -> Child:
    """Start a child that leads a process group of its own, with its output in the file `log`.

    It is a fork of an interpreter that has imported TensorFlow, if `warm.prepare` has made one ready.

    An interrupt must be put off until whoever has to end the child knows it. Raises OSError.
    """
    fork = warm.start(command, log, cwd, env)
    if fork is not None:
        return fork
    with open(log, "wb") as output:
        return subprocess.Popen(
            command,
            stdout=output,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            cwd=cwd,
            env=env,
            start_new_session=True,
        )


def end(child: Child) -> None:
    """End the group of `child`: ask, wait, then force."""
    for sign, wait in ((signal.SIGTERM, GRACE_SECONDS), (signal.SIGKILL, None)):
        try:
            os.killpg(child.pid, sign)
        except (ProcessLookupError, PermissionError):
            pass
        try:
            child.wait(wait)
        except subprocess.TimeoutExpired:
            continue
        if sign is signal.SIGTERM and not _alive(child.pid):
            return


def _alive(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except (ProcessLookupError, PermissionError):
        return False
    return True


def tail(path: str, lines: int = 30) -> list[str]:
    """The last lines of a log."""
    try:
        with open(path, "rb") as file:
            text = file.read()[-65536:].decode("utf-8", "replace")
    except OSError:
        return []
    return text.splitlines()[-lines:]


def error(path: str, folder: str, lines: int = 30) -> tuple[str, list[str]]:
    """What a log tells of an error: its last traceback, or its last lines where it has none.

    Returns:
      What the lines are, to be followed by the name of the log, and the lines: with the exception, those of its message
      and of the frames before it that are no frames of files outside of `folder`.
    """
    log = tail(path, sys.maxsize)
    begin = next((at for at in reversed(range(len(log))) if log[at].startswith("Traceback (most recent")), len(log))
    raised = next((at for at in range(begin + 1, len(log)) if log[at][:1].strip()), len(log))
    if raised >= len(log):
        return "the last lines of", log[-lines:]
    frames, message = _own(log[begin:raised], folder), _own(log[raised:], folder)
    while message and not message[-1].strip():
        message.pop()
    if len(message) > lines:
        message = [*message[: lines // 2], "...", *message[-(lines // 2) :]]
    return "the error in", frames[-lines:] + message


def _own(log: Sequence[str], folder: str) -> list[str]:
    """`log` without the frames of files outside of `folder`, and without the lines of source that these show."""
    inside = tuple({os.path.join(folder, ""), os.path.join(os.path.realpath(folder), "")})
    kept: list[str] = []
    foreign = -1  # how far the last such frame is indented
    for line in log:
        indent = len(line) - len(line.lstrip())
        if frame := _FRAME.match(line):
            foreign = -1 if frame[1].startswith(inside) else indent
        elif not line.strip() or indent <= foreign:
            foreign = -1
        if foreign < 0:
            kept.append(line)
    return kept


def environment(folder: str, **extra: str) -> dict[str, str]:
    """Environment of a child: one process, CPU unless the caller says otherwise, temporary files in `folder`."""
    env = dict(os.environ)
    for name in ("TF_CONFIG", "http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "grpc_proxy", "PYTHONSTARTUP"):
        env.pop(name, None)
    env.setdefault("CUDA_VISIBLE_DEVICES", "-1")  # GPU sums are not repeatable
    env.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    env.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")
    env.update(PYTHONUNBUFFERED="1", PYTHONHASHSEED="0", TMPDIR=folder, TEMP=folder, TMP=folder)
    env.update(extra)
    return env

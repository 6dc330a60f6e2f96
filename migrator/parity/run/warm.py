"""Interpreters that have imported TensorFlow and fork the processes of a run, which start in a moment instead of seconds.

The first process of an interpreter takes as long as ever; the new side that runs under the interpreter of the old one,
the further cases of a run and the processes of a cluster do not import TensorFlow again. Each is a process of its own
all the same, with its log, environment and process group. Linux only: elsewhere libraries do not survive a fork.
"""

from __future__ import annotations

import atexit
import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Optional, Protocol

from migrator.cli.interrupts import put_off
from migrator.parity.probe.keras_choice import KERAS

ENTRY = Path(__file__).resolve().parent.parent / "probe_entry.py"
IMPORT_SECONDS = 120.0
"""How long an import of TensorFlow may take; where it takes longer, processes start as they would without this."""
ANSWER_SECONDS = 30.0
END_SECONDS = 10.0
MOST = 3
"""Interpreters that are kept at a time; each holds some 300 MB."""

SCRIPTS = {str(ENTRY)}
"""Programs that may run in a fork: they import TensorFlow before all else."""

_OF_A_RUN = {"TMPDIR", "TEMP", "TMP", "TF_CONFIG", KERAS, "no_proxy", "PYTEST_CURRENT_TEST"}
"""Variables that TensorFlow does not read while it is imported, or that a fork checks itself (Keras)."""


class Child(Protocol):
    """What the owner of a process needs; `subprocess.Popen` is one."""

    pid: int

    @property
    def returncode(self) -> Any:
        """The exit status, once it is known."""

    def poll(self) -> Optional[int]:
        """The exit status, or None while the process runs."""

    def wait(self, timeout: Optional[float] = None) -> int:
        """The exit status, once it is there. Raises subprocess.TimeoutExpired."""


class Gone(Exception):
    """The interpreter does not answer."""


class Interpreter:
    """One process that has imported TensorFlow, or has failed to."""

    def __init__(self, python: str, side: str, env: Mapping[str, str]) -> None:
        self._process: Optional[subprocess.Popen[bytes]] = subprocess.Popen(
            [python, str(ENTRY), "warm", side],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,  # where the import fails, the process that then starts alone says so in its log
            cwd=os.sep,
            env={name: value for name, value in env.items() if name not in _OF_A_RUN or name == KERAS},
            start_new_session=True,
        )

        self._ready = False

    def wait_until_ready(self) -> None:
        """Wait until TensorFlow is imported; one that fails to is ended."""
        try:
            self._answer(IMPORT_SECONDS)
            self._ready = True
        except Gone:
            self.close()

    def ask(self, **request: Any) -> dict[str, Any]:
        """Raises Gone."""
        if self._process is None or self._process.stdin is None:
            raise Gone
        try:
            with put_off():  # else the answer to this would be taken for that to the next
                self._process.stdin.write(json.dumps(request).encode() + b"\n")
                self._process.stdin.flush()
                return self._answer(ANSWER_SECONDS)
        except OSError as error:
            raise Gone from error

    def _answer(self, seconds: float) -> dict[str, Any]:
        if self._process is None or self._process.stdout is None:
            raise Gone
        ready, _, _ = select.select([self._process.stdout], [], [], seconds)
        line = self._process.stdout.readline() if ready else b""
        if not line:
            raise Gone
        answer: dict[str, Any] = json.loads(line)
        return answer

    def close(self) -> None:
        """End it; it ends its children."""
        process, self._process = self._process, None
        if process is None:
            return
        with process:  # closes the pipes, which is the sign to end
            try:
                if self._ready and process.stdin is not None:
                    process.stdin.close()
                    process.wait(END_SECONDS)
            except (OSError, subprocess.TimeoutExpired):
                pass
            finally:
                if process.poll() is None:
                    os.killpg(process.pid, signal.SIGKILL)


class Fork:
    """A child of an interpreter, as `subprocess.Popen` would show it."""

    def __init__(self, interpreter: Interpreter, pid: int) -> None:
        self._interpreter, self.pid = interpreter, pid
        self.returncode: Optional[int] = None

    def poll(self) -> Optional[int]:
        """The exit status, or None while it runs."""
        if self.returncode is None:
            try:
                self.returncode = self._interpreter.ask(poll=self.pid)["status"]
            except Gone:  # who ended the interpreter has ended its children
                self.returncode = -9
        return self.returncode

    def wait(self, timeout: Optional[float] = None) -> int:
        """The exit status, once it is there. Raises subprocess.TimeoutExpired."""
        until = None if timeout is None else time.monotonic() + timeout
        while (status := self.poll()) is None:
            if until is not None and time.monotonic() > until:
                raise subprocess.TimeoutExpired(str(self.pid), timeout or 0.0)
            time.sleep(0.02)
        return status


_interpreters: dict[object, Interpreter] = {}


def prepare(command: Sequence[str], env: Mapping[str, str]) -> None:
    """Have an interpreter ready for `command`, so that a start takes no time. Does nothing where none can be."""
    key = _key(command, env)
    if key is None or key in _interpreters:
        return
    try:
        with put_off():
            _interpreters[key] = Interpreter(command[0], command[2], env)
    except OSError:
        return
    while len(_interpreters) > MOST:
        _interpreters.pop(next(iter(_interpreters))).close()
    _interpreters[key].wait_until_ready()


def start(command: Sequence[str], log: str | Path, cwd: str | Path, env: Mapping[str, str]) -> Optional[Fork]:
    """A process for `command` from the interpreter that was prepared, or None where there is none."""
    interpreter = _interpreters.get(_key(command, env))
    if interpreter is None:
        return None
    request = {"command": list(command), "log": os.path.abspath(log), "cwd": os.path.abspath(cwd), "env": dict(env)}
    try:
        return Fork(interpreter, interpreter.ask(**request)["pid"])
    except Gone:
        return None


def _key(command: Sequence[str], env: Mapping[str, str]) -> Optional[object]:
    relative = any(not os.path.isabs(path) for path in env.get("PYTHONPATH", os.sep).split(os.pathsep))
    if not sys.platform.startswith("linux") or relative or command[1] not in SCRIPTS:
        return None
    return command[0], frozenset((name, value) for name, value in env.items() if name not in _OF_A_RUN or name == KERAS)


@atexit.register
def close_all() -> None:
    """End all interpreters."""
    while _interpreters:
        _interpreters.popitem()[1].close()

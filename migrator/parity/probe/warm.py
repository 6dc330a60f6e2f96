"""An interpreter that has imported TensorFlow and forks a child for each request.

Reads requests from its standard input and answers on its standard output, one JSON object per line. Says ``{"ready":
true}`` first. ``{"command", "log", "cwd", "env"}`` starts a child, which leads a process group of its own, and answers
``{"pid"}``; ``{"poll": pid}`` answers ``{"status"}``, the exit status as `subprocess` has it or null. When its input
ends, it ends the children that still run. Does not import `migrator`; runs under any Python from 3.7.
"""

from __future__ import annotations

import gc
import json
import os
import random
import runpy
import signal
import sys
import tempfile
import time
from typing import Any, Optional

import numpy as np

from .keras_choice import KERAS, choose_keras

GRACE_SECONDS = 4.0


def serve(answers: Any) -> Optional[dict[str, Any]]:
    """Answer requests until the owner is gone. In a child, returns what it was asked to be."""
    running: set[int] = set()
    for line in sys.stdin:
        request: dict[str, Any] = json.loads(line)
        if "poll" in request:
            pid, status = os.waitpid(request["poll"], os.WNOHANG)
            running.discard(pid)
            answer = {"status": None if pid == 0 else _exit_status(status)}
        else:
            pid = os.fork()
            if pid == 0:
                answers.close()
                return request
            os.setpgid(pid, pid)  # by both, so that neither can find it undone
            running.add(pid)
            answer = {"pid": pid}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()
    _end(running)
    return None


def become(request: dict[str, Any]) -> None:
    """Run the command of a request as a fresh interpreter would."""
    if os.getpgrp() != os.getpid():
        os.setpgid(0, 0)
    log = os.open(request["log"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)
    nothing = os.open(os.devnull, os.O_RDONLY)
    for target, source in ((0, nothing), (1, log), (2, log)):
        os.dup2(source, target)
    os.chdir(request["cwd"])
    keras = os.environ.get(KERAS)
    os.environ.clear()
    os.environ.update(request["env"])
    command = request["command"]
    choose_keras(command[2])
    if os.environ.get(KERAS) != keras or _hidden(request["cwd"]):
        os.execve(sys.executable, [sys.executable, *command[1:]], request["env"])
    tempfile.tempdir = None  # some module asked for it while it was imported
    random.seed()
    np.random.seed()
    sys.stdin = open(0, closefd=False)
    sys.argv = command[1:]
    runpy.run_path(command[1], run_name="__main__")


def _hidden(folder: str) -> bool:
    """Whether modules of the program in `folder` have names of modules that are loaded, which would hide them."""
    names = {name.split(".")[0] for name in os.listdir(folder)}
    return any(name.partition(".")[0] in names for name in sys.modules if name != "__main__")


def _exit_status(status: int) -> int:
    return -os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)


def _end(groups: set[int]) -> None:
    for number, seconds in ((signal.SIGTERM, GRACE_SECONDS), (signal.SIGKILL, 0.0)):
        for group in groups:
            try:
                os.killpg(group, number)
            except OSError:
                pass
        until = time.monotonic() + seconds
        while groups and time.monotonic() < until:
            groups -= {pid for pid in groups if os.waitpid(pid, os.WNOHANG)[0]}
            time.sleep(0.05)


def main(side: str) -> int:
    """Import TensorFlow as `side` (``old`` or ``new``) needs it, and serve; the exit status of a child is its own."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    choose_keras(side)
    import tensorflow as tf

    assert tf.keras.Model  # loaded when it is asked for
    gc.freeze()  # else each child copies what it shares, and frees it at its end
    answers.write('{"ready": true}\n')
    answers.flush()
    asked = serve(answers)
    if asked is not None:
        become(asked)
    return 0

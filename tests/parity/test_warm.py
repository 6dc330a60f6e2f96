"""Interpreters that fork the processes of a run: these are what they would be if each had started by itself."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from migrator.parity.probe.keras_choice import KERAS
from migrator.parity.run import process, warm
from migrator.parity.run.warm import Fork, Interpreter

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="processes are forked on Linux only")

SHOW = """
import json, os, random, sys, tempfile
print(json.dumps([sys.argv, os.getcwd(), dict(os.environ), os.getpgrp() == os.getpid(), tempfile.gettempdir(),
                  "preloaded" in sys.modules, random.random(), sys.stdin.read()]))
sys.exit(3)
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Holds a module that stands for TensorFlow, which is slow to import."""
    (tmp_path / "library").mkdir()
    text = "import preloaded, tempfile\ntempfile.gettempdir()\nclass keras:\n    Model = 1\n"
    (tmp_path / "library" / "tensorflow.py").write_text(text)
    (tmp_path / "library" / "preloaded.py").write_text("")
    (tmp_path / "program").mkdir()
    (tmp_path / "show.py").write_text(SHOW)
    return tmp_path


@pytest.fixture
def env(folder: Path) -> dict[str, str]:
    return {**process.environment(str(folder)), "PYTHONPATH": str(folder / "library")}


@pytest.fixture
def interpreter(env: dict[str, str]) -> Iterator[Interpreter]:
    one = Interpreter(sys.executable, "old", env)
    one.wait_until_ready()
    yield one
    one.close()


def fork(interpreter: Interpreter, script: Path, env: dict[str, str], side: str = "old") -> Fork:
    command = [sys.executable, str(script), side, "an argument"]
    folder = script.parent
    pid = interpreter.ask(command=command, log=str(folder / "log"), cwd=str(folder / "program"), env=env)["pid"]
    return Fork(interpreter, pid)


def shown(interpreter: Interpreter, folder: Path, env: dict[str, str], side: str = "old") -> Any:
    assert fork(interpreter, folder / "show.py", env, side).wait(30) == 3
    return json.loads((folder / "log").read_text())


def test_a_fork_is_as_if_started_by_itself(interpreter: Interpreter, folder: Path, env: dict[str, str]) -> None:
    own = {**env, "TMPDIR": str(folder / "program"), "TF_CONFIG": "{}"}
    numbers = set()
    for _ in range(2):
        argv, cwd, environment, leads, temporary, preloaded, number, read = shown(interpreter, folder, own)
        assert argv == [str(folder / "show.py"), "old", "an argument"]
        assert (cwd, temporary, read) == (str(folder / "program"), str(folder / "program"), "")
        assert environment == own and leads and preloaded
        numbers.add(number)
    assert len(numbers) == 2  # a program that sets no seed has another every time


@pytest.mark.parametrize("name", ["json.py", "tensorflow", "preloaded.py"])
def test_modules_of_the_program_are_not_hidden(
    interpreter: Interpreter, folder: Path, env: dict[str, str], name: str
) -> None:
    (folder / "program" / name).mkdir()
    preloaded = shown(interpreter, folder, env)[5]
    assert not preloaded


def test_keras_is_that_of_the_environment(interpreter: Interpreter, folder: Path, env: dict[str, str]) -> None:
    assert not shown(interpreter, folder, {**env, KERAS: "1"})[5]
    assert shown(interpreter, folder, env)[5]


def test_how_a_fork_ends(interpreter: Interpreter, folder: Path, env: dict[str, str]) -> None:
    (folder / "fails.py").write_text("raise ValueError('broken')\n")
    assert fork(interpreter, folder / "fails.py", env).wait(30) == 1
    assert "ValueError: broken" in (folder / "log").read_text()
    (folder / "sleeps.py").write_text("import time\ntime.sleep(60)\n")
    sleeps = fork(interpreter, folder / "sleeps.py", env)
    assert sleeps.poll() is None
    with pytest.raises(subprocess.TimeoutExpired):
        sleeps.wait(0.05)
    os.killpg(sleeps.pid, signal.SIGKILL)
    assert sleeps.wait(30) == -signal.SIGKILL == sleeps.returncode


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_who_ends_an_interpreter_ends_its_forks(interpreter: Interpreter, folder: Path, env: dict[str, str]) -> None:
    (folder / "sleeps.py").write_text("import time\ntime.sleep(60)\n")
    sleeps = fork(interpreter, folder / "sleeps.py", env)
    interpreter.close()
    assert not alive(sleeps.pid)
    assert sleeps.poll() == -9


def test_forks_end_with_their_owner(folder: Path, env: dict[str, str]) -> None:
    (folder / "sleeps.py").write_text("import time\ntime.sleep(60)\n")
    (folder / "owner.py").write_text(f"""
import os, signal, sys
from migrator.parity.run.warm import Interpreter
one = Interpreter(sys.executable, "old", dict(os.environ))
one.wait_until_ready()
command = [sys.executable, {str(folder / "sleeps.py")!r}, "old"]
pid = one.ask(command=command, log={str(folder / "log")!r}, cwd={str(folder / "program")!r}, env=dict(os.environ))["pid"]
print(pid, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
""")
    search = os.pathsep.join([env["PYTHONPATH"], *(path for path in sys.path if path)])
    done = subprocess.run(
        [sys.executable, str(folder / "owner.py")], env={**env, "PYTHONPATH": search}, capture_output=True, timeout=60
    )
    assert done.returncode == -signal.SIGKILL, done.stderr
    until = time.monotonic() + 30
    while alive(int(done.stdout)) and time.monotonic() < until:
        time.sleep(0.05)
    assert not alive(int(done.stdout))


def test_processes_start_alone_where_tensorflow_cannot_be_imported(folder: Path, env: dict[str, str]) -> None:
    (folder / "library" / "tensorflow.py").write_text("raise ImportError('no such thing')\n")
    command = [sys.executable, str(warm.ENTRY), "old", str(folder / "none.json")]
    ended = process.run("old", command, str(folder / "log"), str(folder / "program"), env, 60)
    assert ended.returncode == 1
    assert "none.json" in (folder / "log").read_text()
    assert warm.start(command, folder / "log", folder, env) is None


def test_other_commands_start_alone(folder: Path, env: dict[str, str]) -> None:
    before = dict(warm._interpreters)
    warm.prepare([sys.executable, str(folder / "show.py"), "old"], env)
    warm.prepare([sys.executable, str(warm.ENTRY), "old"], {**env, "PYTHONPATH": "library"})  # relative
    warm.prepare([str(folder / "no-python"), str(warm.ENTRY), "old"], env)
    assert warm._interpreters == before
    assert warm.start([sys.executable, str(folder / "show.py"), "old"], folder / "log", folder, env) is None


def test_a_limited_number_is_kept(folder: Path, env: dict[str, str]) -> None:
    command = [sys.executable, str(warm.ENTRY), "old"]
    for number in range(warm.MOST + 1):
        warm.prepare(command, {**env, "NUMBER": str(number)})
    assert len(warm._interpreters) == warm.MOST
    assert warm.start(command, folder / "log", folder, {**env, "NUMBER": "0"}) is None
    warm.close_all()
    assert not warm._interpreters

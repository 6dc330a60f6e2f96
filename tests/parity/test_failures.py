"""What is said of a side that did not come to its end."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from migrator.parity.judge.case import Program
from migrator.parity.probe import program
from migrator.parity.run import kept, runner, sandbox
from migrator.parity.run.failures import headline, status_text
from migrator.parity.run.local_cluster import Idle, Run, Shape, cpu_seconds

PLACEHOLDER = "RuntimeError: tf.placeholder() is not compatible with eager execution."


@pytest.mark.parametrize(
    ("side", "line", "advised"),
    [
        ("old", PLACEHOLDER, "--old-dialect v1"),
        ("new", PLACEHOLDER, ""),  # what we wrote is at fault
        ("old", "SyntaxError: invalid syntax", "--from-python2"),
        ("old", "ValueError: planted", ""),
    ],
)
def test_programs_that_count_on_graphs_are_told_how_they_get_them(
    tmp_path: Path, side: str, line: str, advised: str
) -> None:
    ended: Any = SimpleNamespace(timed_out=False, returncode=1, log="log.txt", seconds=1.0)
    box = sandbox.Sandbox(tmp_path)
    box.log.write_text(f"Traceback (most recent call last):\n{line}\n")
    program = Program(Path("task.py"))
    text = runner._failure(side, program, ended, box)
    assert line in text and "task.py: exit status 1" in text
    assert advised in text and (bool(advised) or text.endswith(line))


@pytest.mark.parametrize(
    ("code", "text"),
    [
        (2, "exit status 2"),
        (-11, "ended by SIGSEGV"),
        (-9, "ended by SIGKILL, perhaps for want of memory"),
        (-99, "ended by signal 99"),
    ],
)
def test_signals_have_names(code: int, text: str) -> None:
    assert status_text(code) == text


ARGPARSE = ["usage: train.py [-h] --data DATA", "train.py: error: the following arguments are required: --data"]


@pytest.mark.parametrize(
    ("body", "status", "log", "expected"),
    [
        (
            "raise SystemExit(2)",
            2,
            ARGPARSE,
            "exit status 2 at train.py:4: the following arguments are required: --data. Arg",
        ),
        ("raise SystemExit('no data.')", 1, [], "exit status 1 at train.py:4: no data"),
        ("raise KeyError('rate')", 1, [], "exit status 1 at train.py:4: KeyError: 'rate'"),
        ("import json\njson.loads('?')", 1, [], "exit status 1 at train.py:5: JSONDecodeError: Expecting value"),
        ("raise ValueError('one\\ntwo')", 1, [], "exit status 1 at train.py:4: ValueError: one"),
    ],
)
def test_its_own_last_error_comes_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: str, status: int, log: list[str], expected: str
) -> None:
    folder, output = tmp_path / "program", tmp_path / "recording"
    folder.mkdir(), output.mkdir()
    (folder / "train.py").write_text(f"import random\n\n\n{body}\n")
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(sys, "argv", ["train.py"])
    monkeypatch.chdir(folder)
    with pytest.raises((SystemExit, ValueError, KeyError)):
        program.run(str(folder / "train.py"), "", [], str(folder), output=str(output))
    assert json.loads((output / program.FAILURE).read_text())["status"] == status
    assert headline(status, output, log).startswith(expected)


def test_without_a_word_of_the_program_the_status_is_told(tmp_path: Path) -> None:
    assert headline(-6, tmp_path, ["train.py: error: x"]) == "ended by SIGABRT"


def test_of_copies_of_failed_runs_the_last_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept.tempfile, "gettempdir", lambda: str(tmp_path))
    running = kept.folder("running")
    folders = [kept.folder(f"case {number}") for number in range(kept.MOST + 2)]
    for folder in folders:
        text = kept.keep(folder)
        assert str(folder) in text and folder.parent == kept.place()
        time.sleep(0.01)
    assert [folder.exists() for folder in folders] == [False] * 2 + [True] * kept.MOST and running.exists()


def test_who_waits_for_one_that_has_ended_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    run, idle = Run(Path()), Idle(Shape({"chief": 1, "worker": 2}))
    for task in (("chief", 0), ("worker", 0), ("worker", 1)):
        run.processes[task] = SimpleNamespace(pid=1)  # type: ignore[assignment]
    used = iter([0.0, 0.0] * 3)
    monkeypatch.setattr("migrator.parity.run.local_cluster.cpu_seconds", lambda group: next(used))
    codes: dict[tuple[str, int], int | None] = {("chief", 0): 0, ("worker", 0): None, ("worker", 1): None}
    assert not idle.look(run, codes, 100.0) and not idle.look(run, codes, 120.0)
    assert "chief0 has ended, and worker0, worker1 still waits" in idle.look(run, codes, 131.0)


def test_trainers_that_wait_for_each_other_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    run, idle = Run(Path()), Idle(Shape({"chief": 1, "worker": 1}))
    for task in (("chief", 0), ("worker", 0)):
        run.processes[task] = SimpleNamespace(pid=1)  # type: ignore[assignment]
    monkeypatch.setattr("migrator.parity.run.local_cluster.cpu_seconds", lambda group: 1.0)
    found = [idle.look(run, dict.fromkeys(run.processes), now) for now in (0.0, 40.0, 61.0)]
    assert found[:2] == ["", ""] and found[2].startswith(
        "chief0, worker0 wait for each other. A program whose RunConfig has no"
    )


@pytest.mark.parametrize(
    ("codes", "seconds"),
    [
        ({("chief", 0): None, ("worker", 0): None}, 5.0),
        ({("chief", 0): 0, ("worker", 0): 0}, 0.0),
        ({("chief", 0): 1, ("worker", 0): None}, 0.0),  # failed: the others have their grace
        ({("chief", 0): 0, ("evaluator", 0): None}, 0.0),  # evaluators come after
        ({("chief", 0): None, ("worker", 0): 0}, 5.0),  # at work
    ],
)
def test_who_works_on_is_left_alone(
    codes: dict[tuple[str, int], int | None], seconds: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, idle, used = Run(Path()), Idle(Shape({"chief": 1, "worker": 1})), [0.0]
    for task in codes:
        run.processes[task] = SimpleNamespace(pid=1)  # type: ignore[assignment]
    monkeypatch.setattr("migrator.parity.run.local_cluster.cpu_seconds", lambda group: used[0])
    for now in range(0, 200, 10):
        used[0] += seconds
        assert idle.look(run, codes, float(now)) == ""


def test_what_a_group_computes_is_known() -> None:
    child = subprocess.Popen([sys.executable, "-c", "while True: pass"], start_new_session=True)
    try:
        time.sleep(0.6)
        assert (cpu_seconds(child.pid) or 0.0) > 0.05
    finally:
        child.kill()
        child.wait()

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from migrator.parity.run import local_cluster, process


def ends(pid: int, seconds: float = 5) -> bool:
    """Whether a process has ended or does so soon; one that ended but was not waited for counts."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            if Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z":
                return True
        except OSError:
            return True
        time.sleep(0.02)
    return False


def run(tmp_path: Path, code: str, timeout: float = 20, **options: object) -> process.Ended:
    return process.run(
        "side", [sys.executable, "-c", code], str(tmp_path / "log"), str(tmp_path), dict(os.environ), timeout, **options  # type: ignore[arg-type]
    )  # fmt: skip


def test_output_and_exit_status_are_kept(tmp_path: Path) -> None:
    ended = run(tmp_path, "import sys; print('out'); print('err', file=sys.stderr); sys.exit(7)")
    assert (ended.returncode, ended.timed_out) == (7, False)
    assert sorted(process.tail(ended.log)) == ["err", "out"]


SPAWN = """
import subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
print(child.pid, flush=True)
time.sleep(60)
"""


def test_time_limit_ends_the_whole_group(tmp_path: Path) -> None:
    start = time.monotonic()
    ended = run(tmp_path, SPAWN, timeout=1.5)
    assert ended.timed_out and time.monotonic() - start < 15
    assert ends(int(process.tail(ended.log)[0]))


def test_interrupt_ends_the_whole_group(tmp_path: Path) -> None:
    def interrupt(seconds: float) -> None:
        if process.tail(str(tmp_path / "log")):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(tmp_path, SPAWN, on_poll=interrupt)
    assert ends(int(process.tail(str(tmp_path / "log"))[0]))


def test_an_interrupt_while_a_child_starts_ends_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    start, began = subprocess.Popen, []

    def interrupted(*args: Any, **kwargs: Any) -> subprocess.Popen[bytes]:
        began.append(start(*args, **kwargs))
        signal.raise_signal(signal.SIGINT)  # the owner does not know the process yet
        return began[-1]

    monkeypatch.setattr(subprocess, "Popen", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path, "import time; time.sleep(60)")
    assert began[0].poll() == -signal.SIGTERM
    shape = local_cluster.Shape({"chief": 1})
    with pytest.raises(KeyboardInterrupt):
        with local_cluster.started(shape, lambda *task: [sys.executable, "-c", SPAWN], tmp_path, tmp_path, os.environ):
            pytest.fail("the interrupt was lost")
    assert began[1].poll() == -signal.SIGTERM


def test_a_child_that_ignores_the_request_to_end_is_forced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "GRACE_SECONDS", 0.3)
    code = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(60)"
    ended = run(tmp_path, code, timeout=1.0)
    assert ended.timed_out and ended.returncode == -9


def test_tail_is_the_end(tmp_path: Path) -> None:
    (tmp_path / "log").write_text("\n".join(map(str, range(100))))
    assert process.tail(str(tmp_path / "log"), 3) == ["97", "98", "99"]
    assert process.tail(str(tmp_path / "none")) == []


def test_environment_is_that_of_one_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TF_CONFIG", "{}")
    monkeypatch.setenv("http_proxy", "")
    env = process.environment(str(tmp_path))
    assert "TF_CONFIG" not in env and "http_proxy" not in env
    assert env["TMPDIR"] == str(tmp_path) and env["PYTHONUNBUFFERED"] == "1"


def test_the_message_of_an_exception_is_told_above_the_frames_of_an_op(tmp_path: Path) -> None:
    own, other = tmp_path / "program", "/lib/tensorflow/ops.py"
    message = [
        "ValueError: wrong shape",
        "",
        "Original stack trace for 'x':",
        *[f'  File "{other}", line {n}' for n in range(40)],
    ]
    log = [
        "Traceback (most recent call last):",
        f'  File "{own}/main.py", line 3, in <module>',
        "    train()",
        "    ^^^^^^^",
        f'  File "{other}", line 7, in call',
        "    hidden()",
        f'  File "{own}2/main.py", line 3, in call',
        *message,
        f'  File "{own}/main.py", line 5, in model_fn',
        f'  File "{other}", line 8, in op',
        "",
    ]
    (tmp_path / "log").write_text("\n".join(["step 1", *log]) + "\n")
    assert process.error(str(tmp_path / "log"), str(own)) == (
        "the error in",
        [*log[:4], *message[:3], f'  File "{own}/main.py", line 5, in model_fn'],
    )


def test_of_a_traceback_only_frames_of_the_program_are_told(tmp_path: Path) -> None:
    head, own = "Traceback (most recent call last):", f'  File "{tmp_path}/a.py", line 1'
    (tmp_path / "log").write_text(
        "\n".join([*["step"] * 40, head, own, *['  File "b.py", line 1'] * 9, "ValueError: short"])
    )
    assert process.error(str(tmp_path / "log"), str(tmp_path)) == ("the error in", [head, own, "ValueError: short"])


@pytest.mark.parametrize("end", [["Killed"], ["Traceback (most recent call last):", '  File "a.py", line 1']])
def test_the_last_lines_are_told_where_there_is_no_exception(end: list[str], tmp_path: Path) -> None:
    lines = [*["step"] * 40, *end]
    (tmp_path / "log").write_text("\n".join(lines) + "\n")
    assert process.error(str(tmp_path / "log"), str(tmp_path)) == ("the last lines of", lines[-30:])
    assert process.error(str(tmp_path / "none"), str(tmp_path)) == ("the last lines of", [])


def test_much_that_follows_a_caught_exception_is_cut_in_the_middle(tmp_path: Path) -> None:
    log = ["Traceback (most recent call last):", "KeyError: 1", *[f"step {n}" for n in range(50)]]
    (tmp_path / "log").write_text("\n".join(log))
    _, told = process.error(str(tmp_path / "log"), str(tmp_path))
    assert told[:3] == log[:3] and told[-1] == "step 49" and "..." in told and len(told) < 40

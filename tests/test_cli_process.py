"""The command as a process of its own: bytes, locales, closed pipes, interrupts, start-up."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from cli_tools import HEAD, process, with_pack, write

from migrator.cli.terminal import EXIT_INTERRUPTED

pytestmark = pytest.mark.usefixtures("sample_folder")


def test_module_and_bytes() -> None:
    Path("ä.py").write_bytes(b"# coding: latin-1\nimport tensorflow as tf\nx = '\xe9', tf.old\n")
    done = process("ä.py", "--apply")
    assert done.returncode == 0, done.stderr
    assert "wrote ä.py: 1 change" in done.stdout.decode()
    assert Path("ä.py").read_bytes().endswith(b"x = '\xe9', tf.new\n")


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_any_locale_prints_any_code(encoding: str) -> None:
    write("a.py", "x = 'é 日本', tf.old\n")
    done = process("a.py", env={"PYTHONIOENCODING": encoding, "LC_ALL": "C"})
    assert done.returncode == 1 and done.stderr == b"" and b"tf.new" in done.stdout


def test_a_closed_pipe_is_no_error_and_apply_has_written() -> None:
    for number in range(200):
        write(f"m{number}.py", f"tf.old, '{'x' * 500}'\n")
    command = f"{sys.executable} -m migrator . --apply | head -n 1"
    done = subprocess.run(["bash", "-c", command], capture_output=True, check=False, timeout=60, **with_pack({}))
    assert done.stderr == b"" and done.stdout.startswith(b"wrote m0.py")
    assert Path("m199.py").read_text().startswith(HEAD + "tf.new")


@pytest.fixture
def hanging(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file that the hanging rule makes when it begins."""
    return tmp_path_factory.mktemp("hanging") / "now"


def wait_for(file: Path) -> None:
    """Until the file is there. Raises AssertionError where it does not come."""
    end = time.monotonic() + 20
    while not file.exists():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.05)


def test_ctrl_c_leaves_every_file_as_it_was(hanging: Path) -> None:
    path = write("a.py", "tf.old\n")
    write("b.py", "tf.hang\n")
    with subprocess.Popen(
        [sys.executable, "-m", "migrator", ".", "--apply"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        **with_pack({"env": {"SAMPLE_HANGS": str(hanging)}}),
    ) as running:
        wait_for(hanging)
        running.send_signal(signal.SIGINT)
        _, stderr = running.communicate(timeout=20)
    assert running.returncode == EXIT_INTERRUPTED and b"Traceback" not in stderr and b"Interrupted" in stderr
    assert path.read_text() == HEAD + "tf.old\n" and len(os.listdir()) == 3


def test_ctrl_c_ends_the_workers(hanging: Path) -> None:
    write("a.py", "tf.hang\n")
    write("b.py", "tf.hang\n" + "x = 1\n" * 20_000)
    with subprocess.Popen(
        [sys.executable, "-m", "migrator", ".", "-j2"],
        start_new_session=True,
        stderr=subprocess.PIPE,
        **with_pack({"env": {"SAMPLE_HANGS": str(hanging)}}),
    ) as running:
        wait_for(hanging)
        os.killpg(running.pid, signal.SIGINT)
        _, stderr = running.communicate(timeout=20)
    assert running.returncode == EXIT_INTERRUPTED and b"Traceback" not in stderr
    with pytest.raises(ProcessLookupError):
        os.killpg(running.pid, 0)


@pytest.mark.parametrize("arguments", [["--help"], ["rules"], ["--version"]])
def test_starting_is_quick_and_light(arguments: list[str]) -> None:
    heavy = "tensorflow numpy rich libcst importlib.metadata multiprocessing".split()
    code = (
        "import sys; sys.argv = ['migrate', *%r]\nfrom migrator.cli import cli\ntry: cli.main()\nexcept SystemExit: pass\n"
        "print([name for name in %r if name in sys.modules], file=sys.stderr)" % (arguments, heavy)
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, **with_pack({}))
    assert done.stderr == "[]\n"


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no device that is always full")
@pytest.mark.parametrize(
    "arguments", [["a.py"], ["a.py", "--format", "json"], ["a.py", "--apply"], ["rules"], ["--help"]]
)
def test_standard_output_without_room_is_told(arguments: list[str]) -> None:
    path = write("a.py", "tf.old\n")
    with open("/dev/full", "wb") as full:
        command = [sys.executable, "-m", "migrator", *arguments]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, check=False, timeout=60, **with_pack({}))
    assert done.returncode == 2
    assert done.stderr == b"migrate: cannot write to standard output: No space left on device\n"
    assert path.read_text() == HEAD + ("tf.new\n" if "--apply" in arguments else "tf.old\n")


@pytest.mark.skipif(os.name == "nt", reason="Windows keeps folders that are in use")
def test_a_current_folder_that_is_gone_is_told() -> None:
    command = f"mkdir gone && cd gone && rmdir ../gone && {sys.executable} -m migrator ."
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parent.parent)}
    done = subprocess.run(["bash", "-c", command], capture_output=True, check=False, timeout=60, env=environment)
    assert done.returncode == 2 and b"the current folder cannot be used" in done.stderr
    assert b"Traceback" not in done.stderr


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_streams_may_be_closed(closed: str) -> None:
    path = write("a.py", "tf.old\n")
    command = f"{sys.executable} -m migrator a.py --apply {closed}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, check=False, timeout=60, **with_pack({}))
    assert (done.returncode, done.stderr) == (0, b"") and path.read_text() == HEAD + "tf.new\n"

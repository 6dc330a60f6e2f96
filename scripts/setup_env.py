"""Creates one of the project's virtual environments: setup_env.py .venv | .venv-latest

Run by the Makefile with the interpreter that the environment is for; needs only the standard library. A finished
environment is left alone until what it is made from changes. An unfinished one (interrupted, disk full) is made anew.
"""

from __future__ import annotations

import fcntl
import hashlib
import platform
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LIGHT = platform.system() == "Linux" and platform.machine() == "x86_64"  # where tensorflow-cpu is published


@dataclass(frozen=True)
class Environment:
    """What pip installs, one call per entry of `installs`, under the pins in `constraints`."""

    purpose: str
    duration: str
    constraints: str
    installs: tuple[tuple[str, ...], ...]


ENVIRONMENTS = {
    ".venv": Environment(
        purpose="TensorFlow 2.15.1, the last one with Estimators, and the development tools",
        duration="usually 1 to 3 minutes, 260 MB to download",
        constraints="requirements/estimator.txt",
        installs=(("--editable", ".[parity,dev]"),),
    ),
    ".venv-latest": Environment(
        purpose="TensorFlow 2.21 with tf_keras, where migrated programs must run too",
        duration="usually 1 to 3 minutes, 350 MB to download",
        constraints="requirements/latest.txt",
        installs=(
            ("tensorflow-cpu" if LIGHT else "tensorflow", "tensorboard", "--editable", ".[test]"),
            # by itself it would bring the full `tensorflow` beside `tensorflow-cpu`
            ("--no-deps", "tf_keras"),
        ),
    ),
}


def fingerprint(environment: Environment) -> str:
    """Changes when the environment has to be brought up to date."""
    digest = hashlib.sha256(f"{ROOT} {sys.version}".encode())
    for name in ("setup.cfg", "pyproject.toml", environment.constraints, "scripts/setup_env.py"):
        digest.update((ROOT / name).read_bytes())
    return digest.hexdigest()


def progress(directory: Path, log: Path) -> str:
    """What pip is at, in its own words, short enough for one line of a terminal."""
    lines = log.read_text(errors="replace").splitlines()
    said = [
        line.strip() for line in lines if line.lstrip().startswith(("Collecting", "Downloading", "Using", "Install"))
    ]
    if said and said[-1].startswith("Installing collected packages"):
        there = sum(1 for _ in directory.glob("lib/python*/site-packages/*.dist-info"))
        return f"unpacking {said[-1].count(',') + 1} packages, {there} there"
    return said[-1][:70] if said else "starting"


def run(command: list[str], directory: Path, log: Path, every: float = 15.0) -> int:
    """Runs `command`, which fills `directory`, with its output in `log`.

    Says how it goes, live on a terminal, else every `every` seconds.
    """
    live = sys.stdout.isatty()
    start = said = time.monotonic()
    with (
        log.open("ab") as out,
        subprocess.Popen(command, cwd=ROOT, stdout=out, stderr=out, stdin=subprocess.DEVNULL) as child,
    ):
        try:
            while child.poll() is None:
                time.sleep(0.2)
                now = time.monotonic()
                if now - said > (1.0 if live else every):
                    said = now
                    text = f"    {now - start:4.0f} s  {progress(directory, log)}"
                    print(f"\r{text:<86}" if live else text, end="" if live else "\n", flush=True)
        except BaseException:
            child.terminate()
            raise
    if live:
        print(f"\r{'':<86}\r", end="", flush=True)
    return child.returncode


def is_at_home(directory: Path) -> bool:
    """Whether the environment still stands where it was made: its commands name its interpreter by the full path."""
    pip = directory / "bin" / "pip"
    return pip.exists() and str(directory / "bin" / "python") in pip.read_text(errors="replace")


def compile_sources(python: Path, *folders: Path) -> None:
    """Writes the byte code that Python itself would write at the first import, but does not where
    PYTHONDONTWRITEBYTECODE is set or the folder cannot be written; without it `import tensorflow` takes twice as long.

    Packages hold files that are not for this Python (templates, Python 2), which stay as they are.
    """
    if python.exists():
        subprocess.run([python, "-W", "ignore", "-m", "compileall", "-qq", "-j", "0", *folders], cwd=ROOT, check=False)


def create(directory: Path, environment: Environment) -> int:
    """Makes or updates the environment in `directory`; returns the exit code."""
    stamp = directory / ".complete"
    wanted = fingerprint(environment)
    python = directory / "bin" / "python"
    if stamp.exists() and stamp.read_text() == wanted:
        compile_sources(python, ROOT / "migrator", ROOT / "rules")
        return 0

    keep = (
        stamp.exists()
        and python.exists()
        and is_at_home(directory)
        and subprocess.run([python, "-c", ""], capture_output=True, check=False).returncode == 0
    )
    print(f"==> {directory.name}: {'updating' if keep else 'creating'} it for {environment.purpose}", flush=True)
    print(f"    Python {platform.python_version()}, {environment.duration}; log: {directory.name}.log", flush=True)
    stamp.unlink(missing_ok=True)
    log = directory.with_name(f"{directory.name}.log")
    log.write_bytes(b"")

    start = time.monotonic()
    steps = [] if keep else [[sys.executable, "-m", "venv", "--clear", str(directory)]]
    options = ["--no-compile", "--progress-bar", "off"]  # pip compiles with one core
    pip = [str(python), "-m", "pip", "--disable-pip-version-check", "install", *options]
    steps += [[*pip, "--constraint", environment.constraints, *what] for what in environment.installs]
    for step in steps:
        code = run(step, directory, log)
        if code:
            tail = "\n".join(f"    {line}" for line in log.read_text(errors="replace").splitlines()[-20:])
            print(
                f"{tail}\n==> {directory.name}: failed, the end of {log.name} is above. Run it again to retry.",
                file=sys.stderr,
            )
            return 2
    compile_sources(python, *directory.glob("lib/python*/site-packages"), ROOT / "migrator", ROOT / "rules")
    stamp.write_text(wanted)
    print(f"==> {directory.name}: ready after {time.monotonic() - start:.0f} s", flush=True)
    return 0


def main(name: str) -> int:
    """Entry point; a second caller waits for the first and then finds the work done."""
    directory = ROOT / name
    with directory.with_name(f"{name}.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print(f"==> {name}: another process is making it, waiting", flush=True)
            fcntl.flock(lock, fcntl.LOCK_EX)
        return create(directory, ENVIRONMENTS[name])


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1]))
    except KeyboardInterrupt:
        print("\n==> interrupted; the next run starts this step again", file=sys.stderr)
        sys.exit(130)

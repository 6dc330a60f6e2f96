"""What `make demo` runs: migrates a copy of demo/program, trains it before and after, compares; all in demo-out/."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = ROOT / "demo" / "program"
OUT = ROOT / "demo-out"
MIGRATE = Path(sys.executable).parent / "migrate"


def say(text: str) -> None:
    """A heading, in bold on a terminal."""
    print(f"\n\033[1m==> {text}\033[0m" if sys.stdout.isatty() else f"\n==> {text}", flush=True)


def run(*arguments: str) -> int:
    """Shows a `migrate` command as a user would type it, runs it, returns its exit code."""
    print(f"$ migrate {' '.join(arguments)}", flush=True)
    return subprocess.run([str(MIGRATE), *arguments], cwd=ROOT, check=False).returncode


def run_diff(*arguments: str) -> int:
    """Like `run`, without the text of new files: of a thousand lines of helpers one would not see the change."""
    print(f"$ migrate {' '.join(arguments)}", flush=True)
    environment = {**os.environ, "FORCE_COLOR": "1"} if sys.stdout.isatty() else None
    command = [str(MIGRATE), *arguments]
    with subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        new_lines = 0
        for line in child.stdout:
            plain = re.sub("\033\\[[0-9;]*m", "", line)
            if plain.startswith("--- /dev/null"):
                new_lines = 1
            elif new_lines and plain.startswith(("+", "@")):
                new_lines += not plain.startswith(("+++", "@"))
            else:
                if new_lines:
                    print(
                        f"(and a new file of {new_lines - 1} lines: the helpers that the program needs, copied beside it)"
                    )
                    new_lines = 0
                print(line, end="")
        sys.stdout.flush()
    return child.returncode


def sizes(folder: Path) -> str:
    """Names and line counts of the Python files in `folder`."""
    return ", ".join(
        f"{file.name} ({len(file.read_text().splitlines())} lines)" for file in sorted(folder.glob("*.py"))
    )


def main() -> int:
    """Returns the exit code of the comparison, or of the step that failed."""
    start = time.monotonic()
    shutil.rmtree(OUT, ignore_errors=True)
    for side in ("before", "after"):
        shutil.copytree(PROGRAM, OUT / side, ignore=shutil.ignore_patterns("__pycache__"))

    say(
        f"a TensorFlow 1 program: DeepFM with Estimator, sharded tables, train_and_evaluate, in {PROGRAM.relative_to(ROOT)}"
    )
    print(sizes(PROGRAM))

    say("what migrating it would change (nothing is written yet)")
    code = run_diff("demo-out/after")
    if code not in (0, 1):  # 1: there is something to change
        return code

    say("the same, written")
    code = run("demo-out/after", "--apply", "--quiet")
    if code:
        print(f"migrate ended with {code}: something is left to do by hand, see above", file=sys.stderr)
        return code
    print(sizes(OUT / "after"))

    say("train both, replay the same start and the same batches, compare (about half a minute)")
    code = run("parity", "demo-out/before/task.py", "demo-out/after/task.py", "--json", "demo-out/parity.json")
    page = OUT / "report.html"
    if (OUT / "parity.json").exists():
        report = ("--format", "html", "--parity", "demo-out/parity.json", "--output", "demo-out/report.html", "--quiet")
        if run("demo-out/before", *report) not in (0, 1):
            return 2
    say(f"{'the same losses' if code == 0 else 'NOT the same'}, after {time.monotonic() - start:.0f} s")
    print(f"every change and both loss curves: {page}")
    print("migrated program: demo-out/after")
    return code


if __name__ == "__main__":
    sys.exit(main())

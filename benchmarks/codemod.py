"""Time and memory of `migrate` against `tf_upgrade_v2`, on the same trees and in the same run.

    python benchmarks/codemod.py [TREE...] [--tensorflow PYTHON] [--rounds 3] [--t2t] [--json FILE]

Without trees it takes the `tensorflow_estimator` package that is installed beside TensorFlow. `--t2t` adds the source
distribution of tensor2tensor 1.15.7, downloaded with pip. `--tensorflow` names an interpreter with TensorFlow 2.15, if this
one has none. CPU seconds count child processes; memory is that of the largest process. Medians of the rounds are shown, the
two tools taking turns, so that other load on the machine hits both.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

UPGRADE = "tensorflow.tools.compatibility.tf_upgrade_v2_main"


@dataclass(frozen=True)
class Usage:
    """What one run of a command cost."""

    wall: float
    """Seconds."""
    cpu: float
    """Seconds, user and system, children included."""
    peak: float
    """MiB of the largest process."""
    code: int


def measure(command: Sequence[str]) -> Usage:
    """Run a command without showing its output."""
    environment = dict(os.environ, TF_CPP_MIN_LOG_LEVEL="3", CUDA_VISIBLE_DEVICES="-1")
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # else each run compiles all files anew, as no installed tool does
    start = time.perf_counter()
    with open(os.devnull, "w") as nothing:
        process = subprocess.Popen(command, stdout=nothing, stderr=nothing, env=environment)
        _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    wall = time.perf_counter() - start
    return Usage(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, process.returncode)


def median(runs: Sequence[Usage]) -> Usage:
    """Median of each number; the last exit code."""
    return Usage(
        statistics.median(run.wall for run in runs),
        statistics.median(run.cpu for run in runs),
        statistics.median(run.peak for run in runs),
        runs[-1].code,
    )


def estimator_package(python: str) -> Path | None:
    """Where `tensorflow_estimator` is installed beside TensorFlow."""
    code = "import importlib.util as u; print(u.find_spec('tensorflow_estimator').submodule_search_locations[0])"
    done = subprocess.run([python, "-c", code], capture_output=True, text=True, check=False)
    return Path(done.stdout.strip()) if done.returncode == 0 else None


def tensor2tensor(folder: Path) -> Path:
    """Download and unpack tensor2tensor 1.15.7."""
    command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--no-binary", ":all:", "-d", str(folder)]
    subprocess.run([*command, "tensor2tensor==1.15.7"], check=True, stderr=subprocess.DEVNULL)
    archive = next(folder.glob("tensor2tensor*.tar.gz"))
    with tarfile.open(archive) as tar:
        tar.extractall(folder)
    return next(path for path in folder.iterdir() if path.is_dir())


def copied(tree: Path, folder: Path) -> Path:
    """A copy of the Python files of a tree, outside of directories that are left out by default."""
    target = folder / "trees" / tree.name
    shutil.copytree(tree, target, ignore=lambda _, names: [name for name in names if name == "__pycache__"])
    return target


def size(tree: Path) -> tuple[int, int]:
    """Python files and their lines."""
    files = list(tree.rglob("*.py"))
    return len(files), sum(path.read_bytes().count(b"\n") for path in files)


def compare(tree: Path, python: str, rounds: int, folder: Path) -> dict[str, Usage]:
    """Run both tools on `tree`, in turns."""
    commands = {
        "migrate": [sys.executable, "-m", "migrator", str(tree)],
        "migrate -j1": [sys.executable, "-m", "migrator", str(tree), "-j1"],
    }
    runs: dict[str, list[Usage]] = {}
    for number in range(rounds):
        out = folder / f"out{number}"
        report = ["--outtree", str(out), "--reportfile", str(folder / "report.txt")]
        commands["tf_upgrade_v2"] = [python, "-m", UPGRADE, "--intree", str(tree), *report]
        for name, command in commands.items():
            runs.setdefault(name, []).append(measure(command))
        shutil.rmtree(out, ignore_errors=True)
    return {name: median(found) for name, found in runs.items()}


def main() -> None:
    """Measure, and print tables."""
    parser = argparse.ArgumentParser(description="migrate against tf_upgrade_v2")
    parser.add_argument("trees", nargs="*", type=Path)
    parser.add_argument(
        "--tensorflow", default=sys.executable, metavar="PYTHON", help="interpreter with TensorFlow 2.15"
    )
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--t2t", action="store_true", help="also tensor2tensor 1.15.7")
    parser.add_argument("--json", type=Path, metavar="FILE")
    options = parser.parse_args()
    results: dict[str, dict[str, dict[str, float]]] = {"start": {}}
    print("start-up                 wall s    CPU s  peak MiB")
    for arguments in (["--help"], ["rules"]):
        usage = median([measure([sys.executable, "-m", "migrator", *arguments]) for _ in range(max(options.rounds, 5))])
        print(f"  migrate {arguments[0]:12} {usage.wall:9.3f} {usage.cpu:8.3f} {usage.peak:9.0f}")
        results["start"][arguments[0]] = asdict(usage)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        trees = [path.resolve() for path in options.trees]
        package = None if trees else estimator_package(options.tensorflow)
        if package is not None:
            trees.append(package)
        if options.t2t:
            trees.append(tensor2tensor(folder))
        if not trees:
            parser.error("no tree to work on: name one, or install TensorFlow 2.15")
        for tree in trees:
            copy = copied(tree, folder)
            files, lines = size(copy)
            print(f"\n{tree.name}: {files} files, {lines} lines")
            print("                         wall s    CPU s  peak MiB  lines/CPU s  exit")
            usages = compare(copy, options.tensorflow, options.rounds, folder)
            for tool, usage in usages.items():
                rate = lines / usage.cpu
                print(f"  {tool:20} {usage.wall:9.2f} {usage.cpu:8.2f} {usage.peak:9.0f} {rate:12.0f} {usage.code:5}")
            ours, theirs = usages["migrate"], usages["tf_upgrade_v2"]
            ratios = theirs.wall / ours.wall, theirs.cpu / ours.cpu, theirs.peak / ours.peak
            print(f"  {'times better':20} {ratios[0]:9.1f} {ratios[1]:8.1f} {ratios[2]:9.1f}")
            results[tree.name] = {tool: asdict(usage) for tool, usage in usages.items()}
    if options.json:
        options.json.write_text(json.dumps(results, indent=2) + "\n")


if __name__ == "__main__":
    main()

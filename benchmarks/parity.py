"""What `migrate parity` costs beside the two trainings that it compares.

    python benchmarks/parity.py [FIXTURE...]

Each fixture, by default `NAMES`, is run three times, each in a process of its own: the program before, the program after,
and both by `migrate parity`. A process imports TensorFlow first, which is the start-up, measured alone. The factor is what
parity took, less the start-up, over what both took alone, less theirs. The aim is 1.3 where trainings are long; of
trainings of a second, most of parity is not training.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NAMES = ("ctr/dcn", "training/warm_up_and_clipping", "classifiers/digits_mlp")
"""Without `tf.contrib`, which the bare program before would not find in TensorFlow 2."""
AIM = 1.3
OLD = """
import runpy, sys
import tensorflow.compat.v1 as v1
sys.modules["tensorflow"] = v1
sys.argv = ["before.py"]
sys.path.insert(0, ".")
runpy.run_path("before.py", run_name="__main__")
"""
"""Runs a program that was written for TensorFlow 1 on TensorFlow 2."""


@dataclass(frozen=True)
class Cost:
    """Seconds of one fixture."""

    name: str
    start: float
    old: float
    new: float
    parity: float

    @property
    def bare(self) -> float:
        """Both trainings without their start-ups."""
        return max(0.1, self.old - self.start) + max(0.1, self.new - self.start)

    @property
    def factor(self) -> float:
        """What parity takes, less one start-up, over `bare`."""
        return (self.parity - self.start) / self.bare

    @property
    def row(self) -> str:
        """A line of the table."""
        return (
            f"{self.name:34} {self.start:8.1f} {self.old:8.1f} {self.new:8.1f} {self.parity:8.1f} {self.factor:8.2f} "
            f"{'' if self.factor <= AIM else f'above {AIM}'}"
        )


def seconds(command: list[str], folder: Path) -> float:
    """How long a process takes. Raises CalledProcessError with its output."""
    env = {"CUDA_VISIBLE_DEVICES": "-1", "TF_CPP_MIN_LOG_LEVEL": "2", **os.environ}
    begin = time.perf_counter()
    subprocess.run(command, cwd=folder, env=env, check=True, capture_output=True, text=True)
    return time.perf_counter() - begin


def measured(name: str, python: str) -> Cost:
    """Run one fixture that is a single file: ``before.py`` and ``after.py``."""
    fixture = ROOT / "fixtures" / name
    with tempfile.TemporaryDirectory() as temporary:
        folders = []
        for side in ("before", "after"):
            folder = Path(temporary, side)
            shutil.copytree(
                fixture, folder, ignore=shutil.ignore_patterns("before.py" if side == "after" else "after.py")
            )
            folders.append(folder)
        start = min(seconds([python, "-c", "import tensorflow as tf; tf.keras.Model"], folders[0]) for _ in range(2))
        old = seconds([python, "-c", OLD], folders[0])
        new = seconds([python, "after.py"], folders[1])
        compare = [python, "-m", "migrator", "parity", "-q", str(fixture / "before.py"), str(fixture / "after.py")]
        return Cost(name, start, old, new, seconds(compare, Path(temporary)))


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", default=NAMES, metavar="FIXTURE")
    parser.add_argument("--python", default=sys.executable, help="Interpreter with TensorFlow 2.15.")
    options = parser.parse_args()
    print(f"{'fixture':34} {'start':>8} {'old':>8} {'new':>8} {'parity':>8} {'factor':>8}")
    for name in options.names:
        try:
            print(measured(name, options.python).row, flush=True)
        except subprocess.CalledProcessError as error:
            print(
                f"{name}: {' '.join(error.cmd[:4])} ended with {error.returncode}:\n{error.stderr[-2000:]}",
                file=sys.stderr,
            )
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""How time and memory of `migrate` grow with the size of a tree, and where the time goes.

    python benchmarks/scaling.py [--lines 1000 10000 100000] [--file-lines 2500 5000] [--rounds 3] [--jobs 2] [--json FILE]

The trees are made of the programs under `fixtures/`, each in a folder of its own, and of modules of Python's standard library,
three for each program. Every run is a process of its own, and nothing is kept between runs. `growth` is the exponent of the CPU
time in the number of lines, from the middle size to the largest, after what the smallest tree costs is taken off: 1 is linear.
On a busy machine trust the CPU seconds.

Then the same for one large file, an Estimator program with many functions and classes, beside the same code in many small files:
`ratio` is the CPU time of the one by that of the many.
"""

from __future__ import annotations

import argparse
import functools
import itertools
import json
import math
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, Callable

from codemod import Usage, measure, median

ROOT = Path(__file__).resolve().parent.parent
PLAIN_FOR_EACH = 3
"""Files without TensorFlow for each program."""

SMALL_FILE = 200
"""Lines of a small file."""

PROGRAM = """

def model_fn(features, labels, mode, params):
    net = tf.layers.dense(features["x"], params["units"], activation=tf.nn.relu)
    logits = tf.layers.dense(net, 3)
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions={"class": tf.argmax(logits, 1)})
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    train_op = tf.train.AdamOptimizer(0.01).minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def train_input():
    return tf.data.Dataset.from_tensors(({"x": [[1.0]]}, [1])).repeat()


def main():
    estimator = tf.estimator.Estimator(model_fn, params={"units": 16})
    estimator.train(train_input, steps=1000)


if __name__ == "__main__":
    main()
"""
PIECE = """

def helper_{n}(values, scale=1.0, *, name=None):
    \"\"\"Helper {n}.\"\"\"
    total = 0
    for index, value in enumerate(values):  # each
        total += value * scale if value > {n} else -index
    return {{"name": name, "result": [total, len(values), sorted(values)]}}


class Thing{n}(object):
    kind = "{n}"

    def __init__(self, x, y={n}):
        self.x = x
        self.y = y
        self.known = {{}}

    def value(self, key):
        if key not in self.known:
            self.known[key] = self.x * key + self.y
        return self.known[key]


def step_{n}(x, y):
    sums = tf.reduce_mean(tf.log(x) + tf.to_float(y), keep_dims=True)
    tf.logging.info("step {n}: %s", sums)
    return tf.where(sums > x, sums, tf.random_uniform([{n} % 7 + 1]))
"""

PHASES = {
    "find files": ("migrator.engine.runner.discover",),
    "read": ("migrator.discover.sources.read_bytes",),
    "imports": ("migrator.engine.runner.import_graph", "migrator.engine.runner.components"),
    "load rules": ("migrator.engine.runner.load",),
    "parse": ("migrator.engine.texts.parse",),
    "rules": ("migrator.engine.checking.Checker.check",),
    "edit": ("migrator.engine.engine.migrate_component", "migrator.engine.runner.migrate_component"),
    "report": ("migrator.cli.running.Shown.show",),
}
"""Functions whose time makes up a phase, without that of the phases within."""


def programs() -> list[list[tuple[str, bytes]]]:
    """The programs of the fixtures: names and contents of their files."""
    found = []
    for before in sorted((ROOT / "fixtures").glob("*/*/before*")):
        files = [before] if before.is_file() else sorted(before.rglob("*.py"))
        found.append([(path.name, path.read_bytes()) for path in files if path.suffix == ".py"])
    return found


def plain_modules() -> list[bytes]:
    """Modules of the standard library that are about as long as a program."""
    folder = Path(sysconfig.get_paths()["stdlib"])
    texts = [path.read_bytes() for path in sorted(folder.glob("*.py"))]
    return [text for text in texts if 30 < text.count(b"\n") < 200 and b"tensorflow" not in text]


def make_tree(target: Path, lines: int) -> tuple[int, int]:
    """Write a tree of about so many lines; returns its files and lines."""
    written = total = 0
    plain = itertools.cycle(plain_modules())
    for number, program in enumerate(itertools.cycle(programs())):
        files = [*program, *((f"plain{index}.py", next(plain)) for index in range(PLAIN_FOR_EACH * len(program)))]
        for name, content in files:
            if total >= lines:
                return written, total
            path = target / f"part{number // 100}" / f"program{number}" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
            written, total = written + 1, total + content.count(b"\n")
    raise AssertionError("endless")


def make_file(path: Path, lines: int, program: str = PROGRAM, first: int = 0) -> int:
    """Write functions and classes of about so many lines, the first of number `first`, and a program; returns the lines."""
    count = (lines - program.count("\n")) // PIECE.count("\n")
    pieces = [PIECE.format(n=number) for number in range(first, first + count)]
    text = "".join(["import tensorflow as tf\n", *pieces, program])
    path.write_text(text)
    return text.count("\n")


def make_small_files(target: Path, lines: int) -> int:
    """Write the same code in files of `SMALL_FILE` lines, the program in one of them; returns how many lines."""
    total = make_file(target / "program.py", SMALL_FILE)
    while total < lines:
        total += make_file(target / f"part{total}.py", SMALL_FILE, program="", first=total)
    return total


def phases(tree: Path) -> dict[str, float]:
    """CPU seconds of each phase, in one process; and those of Python and its imports as `start`."""
    command = [sys.executable, __file__, "--phases", str(tree)]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True)
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def run_with_clocks(tree: str) -> dict[str, float]:
    """Run `migrate` in this process with a clock around each function of `PHASES`."""
    from click.testing import CliRunner

    from migrator.cli import cli

    spent = dict.fromkeys(PHASES, 0.0)
    running: list[float] = []  # of each phase that runs, the time of those within it

    def clocked(phase: str, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            start = time.process_time()
            running.append(0.0)
            try:
                return function(*args, **kwargs)
            finally:
                passed = time.process_time() - start
                spent[phase] += passed - running.pop()
                if running:
                    running[-1] += passed

        return wrapper

    for phase, names in PHASES.items():
        for name in names:
            owner, attribute = _owner(name)
            setattr(owner, attribute, clocked(phase, getattr(owner, attribute)))
    import_module(
        "migrator.engine.runner"
    )._SMALL = sys.maxsize  # all here: what is done elsewhere has clocks of its own
    start = time.process_time()
    CliRunner().invoke(cli.cli, [tree, "-j1"], prog_name="migrate")
    whole = time.process_time() - start
    return {"start": start, **spent, "other": whole - sum(spent.values())}


def _owner(name: str) -> tuple[Any, str]:
    """The module or class that holds what `name` names, and its name there."""
    path, _, attribute = name.rpartition(".")
    try:
        return import_module(path), attribute
    except ModuleNotFoundError:
        module, _, owner = path.rpartition(".")
        return getattr(import_module(module), owner), attribute


def growth(lines: Sequence[int], usages: Sequence[Usage]) -> float:
    """Exponent of the CPU time in the lines, both without those of the smallest tree."""
    middle = len(lines) // 2
    times = [usages[at].cpu - usages[0].cpu for at in (middle, -1)]
    return math.log(times[1] / times[0]) / math.log((lines[-1] - lines[0]) / (lines[middle] - lines[0]))


def main() -> None:
    """Measure, and print tables."""
    parser = argparse.ArgumentParser(description="time and memory of migrate by size")
    parser.add_argument("--lines", type=int, nargs="+", default=[1_000, 3_000, 10_000, 30_000, 100_000])
    parser.add_argument("--file-lines", type=int, nargs="*", default=[2_500, 5_000, 10_000, 20_000])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--json", type=Path, metavar="FILE")
    parser.add_argument("--phases", metavar="TREE", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.phases:
        print(json.dumps(run_with_clocks(options.phases)))
        return
    with tempfile.TemporaryDirectory() as name:
        results = dict(_measured(Path(name), sorted(options.lines), options.rounds, options.jobs))
        results["files"] = dict(_one_and_many(Path(name), sorted(options.file_lines), options.rounds))
    if options.json:
        options.json.write_text(json.dumps(results, indent=2) + "\n")


def _run(tree: Path, rounds: int, jobs: int) -> Usage:
    return median([measure([sys.executable, "-m", "migrator", str(tree), f"-j{jobs}"]) for _ in range(rounds)])


def _one_and_many(folder: Path, sizes: Sequence[int], rounds: int) -> Iterator[tuple[str, Any]]:
    """The sizes in one file and in many, with one process, one after the other; and the growth of the one."""
    usages: list[Usage] = []
    lines: list[int] = []
    print(f"one file beside files of {SMALL_FILE} lines: CPU s of one  CPU s of many  ratio")
    for size in sizes:
        one, many = (folder / f"{kind}{size}" for kind in ("one", "many"))
        one.mkdir()
        many.mkdir()
        lines.append(make_file(one / "program.py", size))
        total = make_small_files(many, size)
        usages.append(_run(one, rounds, 1))
        small = _run(many, rounds, 1)
        ratio = usages[-1].cpu / small.cpu
        print(f"  {lines[-1]:7} lines {total:7} {usages[-1].cpu:26.2f} {small.cpu:14.2f} {ratio:6.2f}", flush=True)
        yield str(lines[-1]), {"one": usages[-1].cpu, "many": small.cpu, "ratio": ratio}
    if len(sizes) > 2:
        print(f"growth of the one file: {growth(lines, usages):.2f} (1 is linear)")
        yield "growth", growth(lines, usages)


def _measured(folder: Path, sizes: Sequence[int], rounds: int, jobs: int) -> Iterator[tuple[str, Any]]:
    usages: list[Usage] = []
    lines: list[int] = []
    print(f"{jobs} processes, {os.cpu_count()} cores         wall s    CPU s  peak MiB of one  lines/CPU s")
    for size in sizes:
        tree = folder / f"tree{size}"
        tree.mkdir()
        files, total = make_tree(tree, size)
        usage = _run(tree, rounds, jobs)
        usages.append(usage)
        lines.append(total)
        numbers = f"{usage.wall:9.2f} {usage.cpu:8.2f} {usage.peak:17.0f} {total / usage.cpu:12.0f}"
        print(f"  {files:5} files {total:7} lines {numbers}", flush=True)
        yield str(total), {"files": files, "wall": usage.wall, "cpu": usage.cpu, "peak": usage.peak}
        if size != sizes[-1]:
            shutil.rmtree(tree)
    if len(sizes) > 2:
        print(f"growth: {growth(lines, usages):.2f} (1 is linear)")
        yield "growth", growth(lines, usages)
    found = phases(tree)
    whole = sum(found.values())
    print(f"where the CPU time of {lines[-1]} lines goes, in one process")
    for phase, seconds in found.items():
        print(f"  {phase:12} {seconds:8.2f} s {100 * seconds / whole:5.0f} %")
    yield "phases", found


if __name__ == "__main__":
    main()

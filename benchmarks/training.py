"""Steps per second and peak memory of programs before and after migration, in one run.

    python benchmarks/training.py [CASE...] [--steps 1000] [--rounds 3] [--json FILE]

CASE is a fixture, such as `recurrent/tagger`; five by default. Needs TensorFlow 2.15, which has both Estimators and Keras. Each
side trains in a process of its own, the two taking turns, so that other load on the machine hits both; the medians of the
rounds are shown, and a ratio above 1 says that the new program is faster, by the clock and by processor time. The first fifth
of the steps, in which graphs are built, does not count, nor does the last checkpoint. Data are repeated where they would end.
What is migrated says that it trains for so many steps, as the `steps_per_execution` of a program depends on it.
On a busy machine trust the ratio of processor time: what the other processes leave to each side is chance.
"""

from __future__ import annotations

import argparse
import functools
import importlib
import importlib.util
import json
import os
import re
import runpy
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, astuple, dataclass
from pathlib import Path
from typing import Any

from migrator.discover.sources import decode
from migrator.engine.engine import migrate_component
from migrator.vocabulary.settings import Settings

ROOT = Path(__file__).resolve().parent.parent
CASES = (
    "classifiers/breast_cancer_binary",
    "classifiers/digits_cnn",
    "ctr/multi_task",
    "recurrent/tagger",
    "canned/wide_and_deep",
)
HEADER = (
    "| program | Estimator steps/s | Keras steps/s | ratio | of CPU time | Estimator MiB | Keras MiB |\n"
    "| --- | ---: | ---: | ---: | ---: | ---: | ---: |\n"
)
WARM_UP = 0.2
_STEPS = re.compile(r"""(\b(?:max_|train_|num_)?steps['"]?(?:, default)?=)\d+""")
_RESULT = "benchmark result: "

Mark = tuple[int, float, float]
"""Steps done, seconds by the clock, and seconds of processor time."""


@dataclass(frozen=True)
class Run:
    """What one training cost."""

    rate: float
    """Steps per second."""
    cpu: float
    """Steps per second of processor time."""
    peak: float
    """MiB of the process."""


@dataclass(frozen=True)
class Comparison:
    """Medians of one program, old and new, and the medians of the ratios of the rounds."""

    case: str
    old: Run
    new: Run
    ratio: float
    cpu_ratio: float

    @property
    def cells(self) -> list[str]:
        """The columns of the table."""
        rates = [f"{self.old.rate:.0f}", f"{self.new.rate:.0f}", f"{self.ratio:.2f}", f"{self.cpu_ratio:.2f}"]
        return [self.case, *rates, f"{self.old.peak:.0f}", f"{self.new.peak:.0f}"]


def rates(marks: Sequence[tuple[float, ...]]) -> tuple[float, ...]:
    """Steps per second of each clock between the first mark (steps, seconds...) after the warm-up and the last one.

    Raises ValueError where the marks do not span two moments.
    """
    last = marks[-1] if marks else (0, 0.0)
    first = next((mark for mark in marks if mark[0] >= WARM_UP * last[0]), last)
    steps, *seconds = (end - start for start, end in zip(first, last))
    if min(steps, *seconds) <= 0:
        raise ValueError("too few steps to tell a rate")
    return tuple(steps / passed for passed in seconds)


def now(steps: int) -> Mark:
    """The mark of this moment."""
    return steps, time.perf_counter(), time.process_time()


def compared(case: str, old: Sequence[Run], new: Sequence[Run]) -> Comparison:
    """Medians over rounds; the two sides of a round ran one after the other."""
    ratios = [two.rate / one.rate for one, two in zip(old, new)]
    cpu_ratios = [two.cpu / one.cpu for one, two in zip(old, new)]
    return Comparison(case, _median(old), _median(new), statistics.median(ratios), statistics.median(cpu_ratios))


def _median(runs: Sequence[Run]) -> Run:
    return Run(*(statistics.median(values) for values in zip(*(astuple(run) for run in runs))))


def table(found: Sequence[Comparison]) -> str:
    """The table in Markdown, with the median ratios last."""
    rows = [comparison.cells for comparison in found]
    middle = statistics.median(c.ratio for c in found), statistics.median(c.cpu_ratio for c in found)
    rows.append(["median", "", "", *(f"{ratio:.2f}" for ratio in middle), "", ""])
    return HEADER + "".join("| " + " | ".join(cells) + " |\n" for cells in rows)


# -- in the process of one side -----------------------------------------------------------------------------------------


class Finished(BaseException):
    """Ends a program when its first training is done; programs do not catch it."""


def repeated(data: Any) -> Any:
    """A dataset that does not end; other input as it is."""
    return data.repeat() if hasattr(data, "repeat") and hasattr(data, "batch") else data


def watch_estimators(steps: int, marks: list[Mark]) -> None:
    """Let the first `train` of any Estimator run for `steps` and then end the program."""
    import tensorflow as tf

    base = importlib.import_module("tensorflow_estimator.python.estimator.estimator").Estimator
    train, call_input_fn = base.train, base._call_input_fn

    class Watch(tf.compat.v1.train.SessionRunHook):  # type: ignore[misc]
        def after_run(self, run_context: Any, run_values: Any) -> None:
            marks.append(now(len(marks) + 1))

    def timed(self: Any, input_fn: Any, hooks: Any = None, **_: Any) -> None:
        self._model_dir = tempfile.mkdtemp()  # what others left in the program's own would be restored
        train(self, input_fn, hooks=[*(hooks or ()), Watch()], steps=steps)
        raise Finished

    @functools.wraps(call_input_fn)
    def endless(self: Any, *args: Any, **named: Any) -> Any:
        return repeated(call_input_fn(self, *args, **named))

    base.train, base._call_input_fn = timed, endless


def watch_keras(steps: int, marks: list[Mark]) -> None:
    """Let the first training run for `steps` and then end the program: that by `train` of the helpers, or by `fit`."""
    import tensorflow as tf

    helpers = importlib.import_module("tf2_training") if importlib.util.find_spec("tf2_training") else None
    fit = tf.keras.Model.fit

    class Watch(tf.keras.callbacks.Callback):  # type: ignore[misc]
        def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
            marks.append(now(batch + 1))

    def watched(self: Any, *args: Any, **named: Any) -> Any:
        named["callbacks"] = [*(named.get("callbacks") or ()), Watch()]
        return fit(self, *args, **named)

    tf.keras.Model.fit = watched
    if hasattr(helpers, "train"):
        watch_helpers(helpers, steps)
    else:
        watch_fit(watched, steps)


def watch_fit(fit: Callable[..., Any], steps: int) -> None:
    """Let the first `fit` run for `steps`, on all of the data that the program takes some of, again and again."""
    import tensorflow as tf

    take, manager = tf.data.Dataset.take, tf.train.CheckpointManager

    def remembered(self: Any, *args: Any, **named: Any) -> Any:
        taken = take(self, *args, **named)
        taken.taken_from = self
        return taken

    def timed(self: Any, data: Any, **named: Any) -> None:
        fit(self, repeated(getattr(data, "taken_from", data)), **{**named, "steps_per_epoch": steps})
        raise Finished

    def in_a_new_folder(checkpoint: Any, directory: Any, *args: Any, **named: Any) -> Any:
        return manager(checkpoint, tempfile.mkdtemp(), *args, **named)

    tf.data.Dataset.take = remembered
    tf.train.CheckpointManager = in_a_new_folder
    tf.keras.Model.fit = timed


def watch_helpers(helpers: Any, steps: int) -> None:
    """Let the first `train` of the helpers run for `steps`."""
    train, read_input, configure = helpers.train, helpers.read_input, helpers.configure

    def timed(model: Any, input_fn: Any, callbacks: Sequence[Any] = (), **_: Any) -> None:
        train(model, input_fn, steps=steps, callbacks=callbacks)
        raise Finished

    def train_of_spec(model: Any, train_spec: Any, *_: Any, **__: Any) -> None:
        timed(model, train_spec.input_fn, train_spec.callbacks)

    def in_a_new_folder(model: Any, config: Any = None, params: Any = None, model_dir: Any = None) -> Any:
        return configure(model, (config or helpers.RunConfig()).replace(model_dir=None), params=params)

    helpers.configure = in_a_new_folder
    helpers.train = timed
    helpers.read_input = lambda *args, **named: repeated(read_input(*args, **named))
    modules = [helpers]
    if importlib.util.find_spec("tf2_cluster") is not None:
        modules.append(importlib.import_module("tf2_cluster"))  # which takes from there what was replaced above
    for module in modules:
        if hasattr(module, "train_and_evaluate"):
            module.train_and_evaluate = train_of_spec


def run_side(side: str, entry: Path, arguments: Sequence[str], steps: int) -> None:
    """Train one program, and print the rate."""
    marks: list[Mark] = []
    sys.argv = [str(entry), *arguments]
    sys.path.insert(0, str(entry.parent))
    if side == "old":
        probe = importlib.import_module("migrator.parity.probe_entry").load_probe("tf1.dialect")
        if probe.written_for_v1(str(entry.parent)):
            probe.install(str(entry.parent))
        watch_estimators(steps, marks)
    else:
        watch_keras(steps, marks)
    try:
        runpy.run_path(str(entry), run_name="__main__")
    except Finished:
        print(_RESULT + json.dumps(rates(marks)))


# -- in the process that compares ---------------------------------------------------------------------------------------


def measure(side: str, entry: Path, arguments: Sequence[str], steps: int) -> Run:
    """Train one side in a process of its own. Raises RuntimeError with the end of its output where that fails."""
    command = [sys.executable, __file__, "--side", side, "--steps", str(steps), str(entry), "--", *arguments]
    environment = dict(
        os.environ,
        TF_CPP_MIN_LOG_LEVEL="3",
        CUDA_VISIBLE_DEVICES="-1",
        TMPDIR=str(entry.parent),  # removed with the copy
    )
    with tempfile.TemporaryFile("w+") as output:
        process = subprocess.Popen(
            command, cwd=entry.parent, stdout=output, stderr=subprocess.STDOUT, env=environment, text=True
        )
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        lines = output.read().splitlines()
    found = [line[len(_RESULT) :] for line in lines if line.startswith(_RESULT)]
    if not found:
        raise RuntimeError(f"{side} {entry} did not train:\n" + "\n".join(lines[-20:]))
    return Run(*json.loads(found[0]), usage.ru_maxrss / 1024)


def sides(case: str, folder: Path, steps: int) -> tuple[Path, Path, list[str]]:
    """Copies of a fixture's program, and of what it becomes where it trains for `steps`: their entries, and the arguments."""
    tomllib = importlib.import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")
    source = ROOT / "fixtures" / case
    spec = tomllib.loads((source / "parity.toml").read_text())["case"][0]
    entries = []
    for side in ("old", "new"):
        program, target = source / spec["old"], folder / case / side
        if program.is_dir():
            shutil.copytree(program, target)
            entries.append(target / spec["entry"])
        else:
            target.mkdir(parents=True)
            shutil.copy(program, target)
            entries.append(target / program.name)
    migrate(entries[1].parent, steps)
    return entries[0], entries[1], spec.get("args", [])


def migrate(folder: Path, steps: int) -> None:
    """Migrate the files of a folder, in which trainings have `steps` where a number stands."""
    sources = [decode(str(path), lengthened(path.read_text(), steps).encode()) for path in sorted(folder.rglob("*.py"))]
    for outcome in migrate_component(sources, Settings()):
        Path(outcome.path).write_bytes(outcome.after)


def lengthened(text: str, steps: int) -> str:
    """A program in which trainings have so many steps where a number stands."""
    return _STEPS.sub(rf"\g<1>{steps}", text)


def compare(case: str, steps: int, rounds: int) -> Comparison:
    """Train both sides of a fixture, in turns, each time in fresh copies."""
    old, new = [], []
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as name:
            before, after, arguments = sides(case, Path(name), steps)
            old.append(measure("old", before, arguments, steps))
            new.append(measure("new", after, arguments, steps))
    return compared(case, old, new)


def main() -> None:
    """Compare, and print the table."""
    parser = argparse.ArgumentParser(description="speed and memory of programs before and after migration")
    parser.add_argument("cases", nargs="*", default=CASES, metavar="CASE")
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", type=Path, metavar="FILE")
    parser.add_argument("--side", choices=("old", "new"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.side:
        run_side(options.side, Path(options.cases[0]), options.cases[1:], options.steps)
        return
    found = []
    for case in options.cases:
        found.append(compare(case, options.steps, options.rounds))
        print(f"{case}: {found[-1].ratio:.2f}", file=sys.stderr)
    print(table(found), end="")
    if options.json:
        options.json.write_text(json.dumps([asdict(comparison) for comparison in found], indent=2) + "\n")


if __name__ == "__main__":
    main()

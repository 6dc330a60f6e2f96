"""Plants faults in migrated programs, one at a time, and counts those that `migrate parity` finds.

    python benchmarks/faults.py [FIXTURE...] [--count 120] [--jobs 2] [--modes replay,live,free] [--recordings DIR]

The kinds of faults are those of `benchmarks/planted.py`; they are spread over the fixtures of one file. The program before is
recorded once for each fixture and mode, and with `--recordings` for all runs of this script, so that a fault costs one run of
the program after. One that is not found while a note of the verdict says that equality says little there counts as told. Where
one is not found, the program runs once more, and stops at the place of the fault: if it never comes there, that counts as not
run. Other faults that are not found are shown with their lines: some change nothing that a program of so few steps computes,
such as a dropout whose rate is 0.
"""

from __future__ import annotations

import argparse
import itertools
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

from planted import KINDS, Fault, faults

from migrator.parity.formats import summary
from migrator.parity.judge.case import Case, Program
from migrator.parity.judge.casefile import load_cases
from migrator.parity.judge.recordings import Recordings
from migrator.parity.judge.report import COULD_NOT_RUN, DIFFERENT, EQUAL
from migrator.parity.run.progress import Progress
from migrator.parity.run.runner import run_case

ROOT = Path(__file__).resolve().parent.parent
LIMIT = 900.0
"""Seconds of one training."""
MODES = ("replay", "live", "free")
SEEDS = 20
"""Trainings of each side without replay."""
FOUND, CRASHED, MISSED, NOT_RUN, TOLD = "found", "crashed", "missed", "not run", "told"
"""`CRASHED`: the program with the fault could not run, so that nothing was compared; that shows it, too. `NOT_RUN`: the
program never comes to the place of the fault, with the arguments of its case."""
COLUMNS = (FOUND, CRASHED, TOLD, NOT_RUN, MISSED)
TELLING = ("says nothing", "says little", "not compared: summ")
OUTCOMES = {EQUAL: MISSED, DIFFERENT: FOUND, COULD_NOT_RUN: CRASHED}


@dataclass(frozen=True)
class Planted:
    """A fault and the fixture that gets it."""

    fixture: Path
    fault: Fault

    @property
    def place(self) -> str:
        """The line of the migrated program."""
        return f"{self.fixture.parent.name}/{self.fixture.name}/after.py:{self.fault.line}"


@dataclass(frozen=True)
class Verdict:
    """What `migrate parity` said."""

    outcome: str
    why: str
    seconds: float


def chosen(fixtures: Sequence[Path], count: int, modes: Sequence[str] = MODES) -> list[Planted]:
    """As many faults, of all kinds in turn that `modes` can see, each in the fixture that has fewest so far."""
    places: dict[str, list[Planted]] = {kind.name: [] for kind in KINDS if kind.mode in modes}
    for fixture in fixtures:
        for fault in (each for each in faults((fixture / "after.py").read_text("utf-8")) if each.mode in modes):
            places[fault.kind].append(Planted(fixture, fault))
    taken: Counter[Path] = Counter()
    found: list[Planted] = []
    while len(found) < count and any(places.values()):
        for left in places.values():
            if left and len(found) < count:
                left.sort(key=lambda each: taken[each.fixture])
                found.append(left.pop(0))
                taken[found[-1].fixture] += 1
    return sorted(found, key=lambda each: (str(each.fixture), each.fault.mode))


def judge(fixture: Path, after: str | None, mode: str, recordings: Path, python: str, seeds: int = SEEDS) -> Verdict:
    """Compare a fixture's first case, with `after` in the place of its migrated program, or as it is."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary, fixture.name)
        shutil.copytree(fixture, folder, ignore=shutil.ignore_patterns("__pycache__"))
        if after is not None:
            folder.joinpath("after.py").write_text(after, "utf-8")
        defaults = Case("", Program(folder, python=python), mode=mode, new_python=python, timeout=LIMIT)
        case = replace(load_cases(folder / "parity.toml", replace(defaults, seeds=seeds))[0], name="case")
        started = time.perf_counter()
        kept = Recordings(recordings / f"{fixture.parent.name}-{fixture.name}-{mode}")
        report = run_case(case, Progress(quiet=True), recordings=kept)
        seconds = time.perf_counter() - started
    why = [report.diagnosis or summary(report)] if report.verdict != COULD_NOT_RUN else report.problem.splitlines()[:1]
    why += [note for note in report.notes if any(word in note for word in TELLING)]
    return Verdict(OUTCOMES[report.verdict], "; ".join(why), seconds)


def judged(
    fixture: Path, planted: Sequence[Planted], recordings: Path, python: str, seeds: int = SEEDS
) -> list[tuple[Planted, Verdict]]:
    """The faults of one fixture, one after the other. Raises SystemExit if it is not equal without them."""
    results = []
    for mode, group in itertools.groupby(planted, key=lambda each: each.fault.mode):
        plain = judge(fixture, None, mode, recordings, python, seeds)
        if plain.outcome != MISSED:
            raise SystemExit(f"{fixture}: without a fault, --mode {mode}: {plain.why}")
        for each in group:
            verdict = judge(fixture, each.fault.text, mode, recordings, python, seeds)
            if verdict.outcome == MISSED and each.fault.told and each.fault.told in verdict.why:
                verdict = replace(verdict, outcome=TOLD)
            if verdict.outcome == MISSED and mode != "free":
                stopped = judge(fixture, each.fault.stopping, mode, recordings, python)
                verdict = replace(verdict, outcome=NOT_RUN if stopped.outcome == MISSED else MISSED)
            print(
                f"{verdict.outcome:7} {verdict.seconds:5.1f} s  {each.place}: {each.fault.kind}",
                file=sys.stderr,
                flush=True,
            )
            results.append((each, verdict))
    return results


def table(results: Sequence[tuple[Planted, Verdict]]) -> str:
    """What was found of each kind, what could not run, and all that was missed."""
    lines = [f"| fault | planted | {' | '.join(COLUMNS)} |", "| --- | ---: | ---: | ---: | ---: | ---: | ---: |"]
    for kind in KINDS:
        outcomes = [verdict.outcome for each, verdict in results if each.fault.kind == kind.name]
        if outcomes:
            mode = f" (`--mode {kind.mode}`)" if kind.mode != "replay" else ""
            counts = " | ".join(str(outcomes.count(outcome)) for outcome in COLUMNS)
            lines.append(f"| {kind.name}{mode} | {len(outcomes)} | {counts} |")
    counts = ", ".join(f"{sum(verdict.outcome == each for _, verdict in results)} {each}" for each in COLUMNS)
    lines += ["", f"{len(results)} planted: {counts}.", ""]
    lines += [
        f"- {verdict.outcome}: {each.place}: {each.fault.kind}: {verdict.why}"
        for each, verdict in results
        if verdict.outcome not in (FOUND, CRASHED)
    ]
    return "\n".join(lines).rstrip() + "\n"


def main() -> int:
    """Print the table; the exit status is 1 if a fault was missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="FIXTURE", help="such as ctr/dcn; all of one file by default")
    parser.add_argument("--count", type=int, default=120, help="how many faults [default: %(default)s]")
    parser.add_argument("--jobs", type=int, default=2, help="comparisons at once [default: %(default)s]")
    parser.add_argument("--modes", default=",".join(MODES), help="of `migrate parity` [default: %(default)s]")
    parser.add_argument("--python", default=sys.executable, help="interpreter with TensorFlow 2.15")
    parser.add_argument(
        "--seeds", type=int, default=SEEDS, help="trainings of each side without replay [default: %(default)s]"
    )
    parser.add_argument(
        "--recordings", type=Path, help="keep what the programs before did, for the next run of this script"
    )
    parser.add_argument("--markdown", type=Path, help="write the table here")
    options = parser.parse_args()
    names = options.names or sorted(
        str(path.parent.relative_to(ROOT / "fixtures"))
        for path in ROOT.glob("fixtures/*/*/after.py")
        if (path.parent / "parity.toml").exists() and "cluster" not in (path.parent / "parity.toml").read_text("utf-8")
    )
    fixtures = [ROOT / "fixtures" / name for name in names]
    planted = chosen(fixtures, options.count, options.modes.split(","))
    with tempfile.TemporaryDirectory() as temporary, ProcessPoolExecutor(options.jobs) as pool:
        groups = [(key, list(group)) for key, group in itertools.groupby(planted, key=lambda each: each.fixture)]
        tasks = [
            pool.submit(judged, key, group, options.recordings or Path(temporary), options.python, options.seeds)
            for key, group in groups
        ]
        results = [result for task in tasks for result in task.result()]
    text = table(results)
    print(text)
    if options.markdown:
        options.markdown.write_text(text, "utf-8")
    return int(any(verdict.outcome == MISSED for _, verdict in results))


if __name__ == "__main__":
    sys.exit(main())

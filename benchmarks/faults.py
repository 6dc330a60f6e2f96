"""Plants faults in migrated programs, one at a time, and counts those that `migrate parity` finds.

    python benchmarks/faults.py [FIXTURE...] [--count 120] [--jobs 2] [--markdown FILE]

The kinds of faults are those of `benchmarks/planted.py`; they are spread over the fixtures of one file. The program before is
recorded once for each fixture, so that a fault costs one run of the program after. A fault that is not found is shown with its
line: some change nothing that a program of so few steps computes, such as a dropout whose rate is 0.
"""

from __future__ import annotations

import argparse
import itertools
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from planted import KINDS, Fault, faults

ROOT = Path(__file__).resolve().parent.parent
LIMIT = 900.0
"""Seconds of one comparison."""
FOUND, CRASHED, MISSED, FAILED = "found", "crashed", "missed", "failed"
"""`CRASHED`: the program with the fault could not run, so that nothing was compared; that shows it, too."""


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


def chosen(fixtures: Sequence[Path], count: int) -> list[Planted]:
    """As many faults, of all kinds in turn, each in the fixture that has fewest so far."""
    places: dict[str, list[Planted]] = {kind.name: [] for kind in KINDS}
    for fixture in fixtures:
        for fault in faults((fixture / "after.py").read_text("utf-8")):
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


def judge(fixture: Path, after: str | None, mode: str, recordings: Path, python: str) -> Verdict:
    """Compare a fixture's first case, with `after` in the place of its migrated program, or as it is."""
    _, first, *_ = (fixture / "parity.toml").read_text("utf-8").split("[[case]]")
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary, "fixture")
        shutil.copytree(fixture, folder, ignore=shutil.ignore_patterns("__pycache__"))
        folder.joinpath("parity.toml").write_text(f"[[case]]{first}", "utf-8")
        if after is not None:
            folder.joinpath("after.py").write_text(after, "utf-8")
        command = [python, "-m", "migrator", "parity", "fixture/parity.toml", "-q", "--mode", mode]
        command += ["--recordings", str(recordings / f"{fixture.parent.name}-{fixture.name}-{mode}")]
        started = time.perf_counter()
        try:
            done = subprocess.run(command, cwd=temporary, capture_output=True, text=True, timeout=LIMIT)
        except subprocess.TimeoutExpired:
            return Verdict(FAILED, f"no answer within {LIMIT:.0f} s", LIMIT)
        seconds = time.perf_counter() - started
    lines = [line.strip() for line in done.stdout.splitlines() if line.strip()]
    outcome = {0: MISSED, 1: FOUND, 2: CRASHED}.get(done.returncode, FAILED)
    said = lines[0].partition(": ")[2] if lines else done.stderr.strip()[-200:]
    said = "; ".join([said, *(line for line in lines if "says nothing" in line)])
    return Verdict(outcome, said, seconds)


def judged(fixture: Path, planted: Sequence[Planted], recordings: Path, python: str) -> list[tuple[Planted, Verdict]]:
    """The faults of one fixture, one after the other. Raises SystemExit if it is not equal without them."""
    results = []
    for mode, group in itertools.groupby(planted, key=lambda each: each.fault.mode):
        plain = judge(fixture, None, mode, recordings, python)
        if plain.outcome != MISSED:
            raise SystemExit(f"{fixture}: without a fault, --mode {mode}: {plain.why}")
        for each in group:
            verdict = judge(fixture, each.fault.text, mode, recordings, python)
            print(
                f"{verdict.outcome:7} {verdict.seconds:5.1f} s  {each.place}: {each.fault.kind}",
                file=sys.stderr,
                flush=True,
            )
            results.append((each, verdict))
    return results


def table(results: Sequence[tuple[Planted, Verdict]]) -> str:
    """What was found of each kind, what could not run, and all that was missed."""
    lines = ["| fault | planted | found | crashed |", "| --- | ---: | ---: | ---: |"]
    for kind in KINDS:
        outcomes = [verdict.outcome for each, verdict in results if each.fault.kind == kind.name]
        if outcomes:
            mode = f" (`--mode {kind.mode}`)" if kind.mode != "replay" else ""
            counts = f"{len(outcomes)} | {outcomes.count(FOUND)} | {outcomes.count(CRASHED)}"
            lines.append(f"| {kind.name}{mode} | {counts} |")
    found, crashed = (sum(verdict.outcome == outcome for _, verdict in results) for outcome in (FOUND, CRASHED))
    lines += ["", f"{found} of {len(results)} found, {crashed} more crashed.", ""]
    lines += [
        f"- {verdict.outcome}: {each.place}: {each.fault.kind}: {verdict.why}"
        for each, verdict in results
        if verdict.outcome not in (FOUND, CRASHED)
    ]
    return "\n".join(lines).rstrip() + "\n"


def main() -> int:
    """Print the table; the exit status is 1 if a fault was not found."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="FIXTURE", help="such as ctr/dcn; all of one file by default")
    parser.add_argument("--count", type=int, default=120, help="how many faults [default: %(default)s]")
    parser.add_argument("--jobs", type=int, default=2, help="comparisons at once [default: %(default)s]")
    parser.add_argument("--python", default=sys.executable, help="interpreter with TensorFlow 2.15")
    parser.add_argument("--markdown", type=Path, help="write the table here")
    options = parser.parse_args()
    names = options.names or sorted(
        str(path.parent.relative_to(ROOT / "fixtures"))
        for path in ROOT.glob("fixtures/*/*/after.py")
        if (path.parent / "parity.toml").exists() and "cluster" not in (path.parent / "parity.toml").read_text("utf-8")
    )
    fixtures = [ROOT / "fixtures" / name for name in names]
    planted = chosen(fixtures, options.count)
    with tempfile.TemporaryDirectory() as temporary, ThreadPoolExecutor(options.jobs) as pool:
        groups = [(key, list(group)) for key, group in itertools.groupby(planted, key=lambda each: each.fixture)]
        tasks = [pool.submit(judged, key, group, Path(temporary), options.python) for key, group in groups]
        results = [result for task in tasks for result in task.result()]
    text = table(results)
    print(text)
    if options.markdown:
        options.markdown.write_text(text, "utf-8")
    return int(any(verdict.outcome not in (FOUND, CRASHED) for _, verdict in results))


if __name__ == "__main__":
    sys.exit(main())

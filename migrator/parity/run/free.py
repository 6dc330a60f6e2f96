"""Trains both sides several times as their owners would, without any replay, and compares what comes out as distributions."""

from __future__ import annotations

import math
import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Callable

import numpy as np

from migrator.parity.judge.case import Case, SideError
from migrator.parity.judge.recordings import Recorded, Recordings
from migrator.parity.judge.report import DIFFERENT, EQUAL, CaseReport, Difference, SideReport, ValueRow
from migrator.parity.judge.samples import compared
from migrator.parity.probe.recorded.store import Reader

LAST_PART = 0.1
"""Of a training: its loss at the end is the mean over so many of its steps."""
SEEDS = 20
"""How often each side trains, unless the case says it."""
TRAINING_LOSS = "loss at the end of the training"
Run = Callable[..., Recorded]
"""Runs one side: what takes the keywords `side`, `program`, `root`, `case` and `recording`."""


def compare_freely(case: Case, root: Path, run: Run, keep: bool, recordings: Recordings | None = None) -> CaseReport:
    """Train both sides with several seeds in folders below `root`. Raises SideError.

    With `recordings` the old side trains only where there is no recording of it with that seed.
    """
    assert case.new is not None
    report = CaseReport(case.name, tolerance=case.tolerance, mode=case.mode, seed=case.seed)
    numbers: dict[str, dict[str, list[float]]] = {"old": {}, "new": {}}
    seeds = case.seeds or SEEDS
    for seed in range(case.seed + 1, case.seed + seeds + 1):
        recorded = None
        for side, program in (("old", case.old), ("new", case.new)):
            folder, seeded = root / f"{side}-{seed}", replace(case, seed=seed)
            done = recordings.find(seeded) if recordings and side == "old" else None
            if done is None:
                done = run(side=side, program=program, root=folder, case=seeded, recording=recorded)
                if recordings and side == "old":
                    recordings.keep(seeded, done)
            recorded = done.folder if side == "old" else None
            total: SideReport = getattr(report, side)
            reader = Reader(str(done.folder))
            versions: dict[str, str] = next((event["versions"] for event in reader.of("meta")), {})
            setattr(report, side, replace(done.side, seconds=done.side.seconds + total.seconds, versions=versions))
            for name, value in results(reader).items():
                numbers[side].setdefault(name, []).append(value)
        if not keep:
            for side in numbers:
                shutil.rmtree(root / f"{side}-{seed}", ignore_errors=True)
    _judge(report, numbers["old"], numbers["new"], seeds)
    return report


def results(recording: Reader) -> dict[str, float]:
    """What one run came to: each number of its last evaluation, and the loss at the end of its training."""
    found: dict[str, float] = {}
    for event in list(recording.of("metrics"))[-1:]:
        for key, reference in event["metrics"].items():
            value = np.asarray(recording.array(reference))
            if value.size == 1 and value.dtype.kind in "fiu" and key != "global_step":
                found[key] = float(value.reshape(-1)[0])
    losses = [(event["loss"], event.get("steps", 1)) for event in recording.of("step")]
    left = max(1, math.ceil(LAST_PART * sum(steps for _, steps in losses)))
    total = weight = 0.0
    for loss, steps in reversed(losses):
        if weight < left:
            total, weight = total + loss * steps, weight + steps
    if weight:
        found[TRAINING_LOSS] = total / weight
    return found


def _judge(report: CaseReport, before: Mapping[str, list[float]], after: Mapping[str, list[float]], seeds: int) -> None:
    for name in sorted(before.keys() ^ after.keys()):
        if name not in after:
            report.differences.append(Difference("metrics", name, "is missing in the new program"))
        else:
            report.notes.append(f"{name}: only the new program has it")
    both = {name: values for name, values in before.items() if len(values) == len(after.get(name, ())) == seeds}
    if not both:
        raise SideError("nothing to compare: no number that both programs report at the end of each run")
    for row in compared(both, after):
        relative = abs(row.difference / np.mean(row.old)) if np.mean(row.old) else float(row.difference != 0)
        old_text, new_text = (f"{np.mean(side):.6g} ± {np.std(side, ddof=1):.2g}" for side in (row.old, row.new))
        report.metrics.append(ValueRow(seeds, row.name, old_text, new_text, float(relative), not row.differs))
        if row.differs:
            report.differences.append(Difference("metrics", f"{seeds} seeds", str(row)))
        else:
            report.notes.append(str(row))
    report.verdict = DIFFERENT if report.differences else EQUAL

"""Compares how both programs go on: what a second run finds in the folders of a first one that was stopped early.

A program that restores nothing, or without the optimizer's state, trains as the old one does until somebody starts it again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from migrator.parity.judge.case import Case
from migrator.parity.judge.recordings import Recorded
from migrator.parity.judge.report import EQUAL, CaseReport
from migrator.parity.run.progress import Progress

NOTE = (
    "both have run before, {} of each training, equal as well: compared is how they go on from there, but not again their "
    "summaries, which an Estimator writes from its first step on"
)
AT_THE_END = ("exports", "checkpoints", "summaries")
"""What a training that is stopped early has not come to, on the one side or the other."""
FIRST = "of the first run, which was stopped after {} of each training; the second one was not made"


def compare_resumed(
    case: Case,
    root: Path,
    progress: Progress,
    run_side: Callable[..., Recorded],
    compare: Callable[..., CaseReport],
    calibrate: Callable[..., CaseReport],
) -> CaseReport:
    """Run both sides for ``case.resume`` steps, and again in the same places; `compare` replays the new one, and
    `calibrate` judges what it says. Raises SideError, CaseError."""
    assert case.new is not None
    steps = f"{case.resume} step" + "s" * (case.resume != 1)
    first = replace(case, steps=case.resume, compare=tuple(part for part in case.compare if part not in AT_THE_END))
    recorded = run_side("old", first.old, root / "old", progress, first, None)
    report = calibrate(first, recorded, compare(first, recorded, root / "new", progress), root, progress)
    if report.verdict != EQUAL:
        report.notes.append(FIRST.format(steps))
        return report
    states = {side: root / "states" / side for side in ("old", "new")}
    for side, state in states.items():
        state.parent.mkdir(exist_ok=True)
        (root / side).rename(state)
    case = replace(case, compare=tuple(part for part in case.compare if part != "summaries"))
    recorded = run_side("old", case.old, root / "old", progress, case, None, state=states["old"])
    recorded = replace(recorded, folder=(root / "old" / "recording").rename(root / "recorded"))
    report = compare(case, recorded, root / "new", progress, state=states["new"])
    report = calibrate(case, recorded, report, root, progress, state=states["old"])
    report.notes.insert(0, NOTE.format(steps))
    return report

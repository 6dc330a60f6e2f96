"""Runs a case: record the old program, replay the new one, compare."""

from __future__ import annotations

import functools
import json
import math
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from migrator.parity.judge.case import Case, CaseError, Program, SideError
from migrator.parity.judge.compare import compare
from migrator.parity.judge.drift import ALLOWED, Again, Drift, evaluations_move, unlike
from migrator.parity.judge.recordings import Recorded, Recordings
from migrator.parity.judge.report import (
    COULD_NOT_RUN,
    DIFFERENT,
    EQUAL,
    NUMBERS,
    REPLAYED,
    CaseReport,
    Difference,
    SideReport,
)
from migrator.parity.probe.recorded.store import Reader
from migrator.parity.run import committed, failures, held_checkpoints, kept, process, sandbox
from migrator.parity.run.cluster_runner import compare_on_cluster
from migrator.parity.run.conversion import converted_case
from migrator.parity.run.free import compare_freely
from migrator.parity.run.known_names import with_names
from migrator.parity.run.migrate import MigrationError, migrate_copy, without_cells
from migrator.parity.run.progress import Progress
from migrator.parity.run.resuming import compare_resumed
from migrator.vocabulary.settings import Settings, SettingsError, load

HERE = Path(__file__).resolve().parent.parent


def run_side(
    side: str,
    program: Program,
    root: Path,
    progress: Progress,
    case: Case,
    recording: Path | None,
    nudge: int = 0,
    earlier: Path | None = None,
    state: Path | None = None,
) -> Recorded:
    """Run one side (``old`` or ``new``) in a sandbox at `root`. Raises SideError, CaseError.

    The new side needs `recording`, the folder of what the old one recorded. With a `nudge`, the last bit of the
    old one's weights is changed before each step, in other ways for each number. A program that goes on finds what an
    earlier run left in its sandbox, the `state` of that.
    """
    start = program.start()
    root = root.resolve()
    box = sandbox.make(root, program) if state is None else sandbox.again(root, state)
    start = sandbox.script_of(box, start)
    config: dict[str, Any] = {
        "output": str(box.recording),
        "progress": str(box.progress),
        "sandbox": str(box.root),
        "folder": str(box.program),
        "entry": str(box.program / start) if start else "",
        "module": program.module,
        "cwd": program.cwd,
        "args": list(program.args),
        "steps": case.steps,
        "mode": case.mode,
        "seed": case.seed,
        "nudge": nudge,
        "earlier": str(earlier) if earlier else "",
        "resumed": state is not None,
        "dialect": case.dialect,
        "variables": [list(pair) for pair in case.variables],
        "derived": [[list(pair) for pair in pairs] for pairs in case.derived],
        "recording": str(recording) if recording else "",
    }
    config_file = box.root / "config.json"
    config_file.write_text(json.dumps(config, indent=1), "utf-8")
    env = process.environment(str(box.temporary))
    if side == "old":
        env.pop("TF_USE_LEGACY_KERAS", None)
    command = [program.python, str(HERE / "probe_entry.py"), side, str(config_file)]
    with progress.side(case.name, side, box.progress) as on_poll:
        try:
            ended = process.run(side, command, str(box.log), str(box.program), env, case.timeout, on_poll)
        except OSError as error:
            raise SideError(f"the {side} program could not be started: {error}") from error
    tail = process.tail(str(box.log))
    report = SideReport(str(program), {}, ended.seconds, str(box.log), tail)
    if ended.returncode or ended.timed_out:
        raise SideError(_failure(side, program, ended, box))
    return Recorded(box.recording, report)


def _failure(side: str, program: Program, ended: process.Ended, box: sandbox.Sandbox) -> str:
    if box.recording.exists() and not ended.timed_out:
        for event in Reader(str(box.recording)).of("mismatch"):
            return str(event["text"])
    what, lines = process.error(str(box.log), str(box.program))
    if ended.timed_out:
        how = f"ran longer than {ended.seconds:.0f} s and was ended"
    else:
        how = failures.headline(ended.returncode, box.recording, process.tail(str(box.log)))
    text = "\n".join("  | " + line for line in lines)
    advice = failures.advice(lines, program) if side == "old" else ""
    return f"the {side} program {program}: {how}\n{what} its log ({ended.log}):\n{text}{advice}"


def run_case(
    case: Case, progress: Progress, keep: Path | None = None, recordings: Recordings | None = None
) -> CaseReport:
    """Run one case. Everything that can go wrong with the programs ends up in the report.

    With `recordings` the old program runs only if there is none of it in its present state.
    """
    report = CaseReport(case.name, tolerance=case.tolerance, mode=case.mode, seed=case.seed)
    report.old.program, report.new.program = str(case.old), str(case.new or "migrated")
    root = (keep / case.folder_name).resolve() if keep else kept.folder(case.folder_name)
    root.mkdir(parents=True, exist_ok=True)
    given = case
    try:
        case = committed.old_program(case, root) if case.since else case
        settings = _settings(given)
        if settings.from_python2:
            case = converted_case(case, root)
        case = _migrated(case, root, settings) if case.new is None else with_names(case, root, settings)
        if case.resume and (case.cluster or case.mode != "replay"):
            raise CaseError("--resume is for the replay on one machine: leave out --cluster and --mode")
        if case.mode == "free":
            if case.cluster:
                raise CaseError("--mode free trains on one machine: leave out --cluster")
            run = functools.partial(run_side, progress=progress)
            report = compare_freely(case, root, run, keep is not None, recordings)
        elif case.cluster:
            report = compare_on_cluster(case, root, progress)
        elif case.resume:
            report = compare_resumed(case, root, progress, run_side, replay_and_compare, calibrated)
        else:
            recorded = recordings.find(case) if recordings else None
            kept_before = recorded is not None
            if recorded is None:
                recorded = run_side("old", case.old, root / "old", progress, case, None)
                if recordings:
                    recordings.keep(case, recorded)
            report = replay_and_compare(case, recorded, root / "new", progress)
            report = calibrated(case, recorded, report, root, progress, recordings)
            if kept_before:
                report.notes.append(f"the old program was not run: its recording is in {recorded.folder}")
            report.notes += held_checkpoints.told(given, report)
        report.notes[:0] = case.remarks
        report.old.program = str(given.old) if case.remarks else report.old.program
    except (CaseError, SideError, MigrationError) as error:
        report.problem = str(error)
    except BaseException:
        shutil.rmtree(root, ignore_errors=True) if keep is None else None
        raise
    if keep is None and not (
        report.verdict == COULD_NOT_RUN
        and any(log.stat().st_size for place in ("*/log.txt", "*/logs/*.log") for log in root.glob(place))
    ):
        shutil.rmtree(root, ignore_errors=True)
        report.old.log = report.new.log = ""
    elif keep is None:
        report.problem += f"\n{kept.keep(root)}"
    return report


def replay_and_compare(
    case: Case, recorded: Recorded, root: Path, progress: Progress, state: Path | None = None
) -> CaseReport:
    """Replay ``case.new`` in a sandbox at `root`, perhaps in the `state` of an earlier run, against what was recorded of the
    old program."""
    assert case.new is not None
    report = CaseReport(case.name, tolerance=case.tolerance, mode=case.mode, seed=case.seed, old=replace(recorded.side))
    report.new.program = str(case.new)
    failure = ""
    try:
        replayed = run_side("new", case.new, root, progress, case, recorded.folder, state=state)
        report.new = replayed.side
    except (CaseError, SideError) as error:
        failure = str(error)
        report.new.log = str(root / "log.txt")
        if not _diverged(root / "recording"):
            report.problem = failure
            return report
    compare(report, Reader(str(recorded.folder)), Reader(str(root / "recording")), case.compare)
    if failure:
        report.differences.append(Difference("steps", "", failure.split(":\n")[0]))
        report.verdict = DIFFERENT
    if report.verdict == EQUAL and case.mode == "replay":
        report.notes.append(REPLAYED)
    return report


FIRST_LOSS = 1e-1
"""No rounding of one forward pass takes a loss further: a choice by the sign of what is all but zero, as masks by the sum of a
normalized row, takes it some hundredths."""
NUDGES = 4
"""How often the old program runs to see what rounding does to it."""
SUDDEN = 3
"""Where so many losses are equal before one differs, it may be an input of a ReLU that was all but zero: a nudge may miss it."""


def calibrated(
    case: Case,
    recorded: Recorded,
    report: CaseReport,
    root: Path,
    progress: Progress,
    recordings: Recordings | None = None,
    state: Path | None = None,
) -> CaseReport:
    """`report`, judged anew by how far rounding alone takes the old program from itself, where numbers differ."""
    sections = {difference.section for difference in report.differences}
    first = [row for row in report.losses if row.step == 1]
    far = any(row.relative > FIRST_LOSS for row in first) or not all(math.isfinite(row.new) for row in report.losses)
    if far or not sections & NUMBERS:
        return report
    old, new, drift = Reader(str(recorded.folder)), Reader(str(root / "new" / "recording")), Drift()
    judged = report
    for number in range(1, NUDGES + 1):
        try:
            again = recordings.find(case, number) if recordings else None
            if again is None:
                place = root / ("again" if state is None else "old")  # checkpoints may name their places
                again = run_side("old", case.old, place, progress, case, None, number, recorded.folder, state)
                if recordings:
                    recordings.keep(case, again, number)
        except (CaseError, SideError) as error:
            return _with_note(judged, f"not calibrated: {str(error).splitlines()[0]}")
        twin = Again(str(again.folder))
        if problem := unlike(old, twin):
            return _with_note(judged, f"not calibrated: {problem}")
        itself = CaseReport(case.name, tolerance=case.tolerance, mode="replay")
        compare(itself, old, twin, case.compare)
        drift = drift.and_of(itself)
        judged = replace(
            CaseReport(case.name, tolerance=case.tolerance, mode=case.mode, seed=case.seed),
            old=report.old,
            new=report.new,
        )
        compare(judged, old, new, case.compare, drift)
        parted = next((row.step for row in judged.losses if not row.equal), 0)
        if judged.verdict == EQUAL or (parted <= SUDDEN and not evaluations_move(judged, drift)):
            break
    worst = max((drift.of("losses", str(row.model), str(row.step)) for row in judged.losses), default=0.0)
    judged.notes += [REPLAYED] if judged.verdict == EQUAL and case.mode == "replay" else []
    return _with_note(
        judged,
        "calibrated: if the last bit of its weights is changed before each step, losses of the old program are up to "
        f"{worst:.1e} apart; up to {ALLOWED:.0f} times as far counts as rounding, for each number",
    )


def _with_note(report: CaseReport, note: str) -> CaseReport:
    report.notes.append(note)
    return report


def _diverged(recording: Path) -> bool:
    """Whether a side that failed had trained to a loss that is no number: that is a finding, not an accident."""
    try:
        steps = list(Reader(str(recording)).of("step"))
    except OSError:
        return False
    return any(not math.isfinite(event["loss"]) for event in steps)


def _settings(case: Case) -> Settings:
    """Those that `migrate` has for the old program, with what the case says. Raises CaseError."""
    try:
        found = load([str(case.old.path)])
    except SettingsError as error:
        raise CaseError(str(error)) from error
    return found.merged(from_python2=case.from_python2 or None, exclude=found.exclude + case.exclude)


def _migrated(case: Case, root: Path, settings: Settings) -> Case:
    """The case with a migrated copy of the old program, and the pairs of variables that the migration knows."""
    target = root / "migrated"
    if target.exists():
        shutil.rmtree(target)
    sandbox.copy_program(case.old.folder, target, skip=root)
    start = case.old.start()
    migrated = migrate_copy(target, start, settings)
    case = _without_cells(case, target, migrated.aside, root) if migrated.aside else case
    path = target / start if start and case.old.path.is_file() else target
    entry = "" if case.old.path.is_file() else start
    program = replace(case.old, path=path, entry=entry, python=case.new_python)
    # No more than hints: models may have variables of the same names, and conditions decide which layers there are.
    return replace(case, new=program, derived=tuple(unit.variables for unit in migrated.units))


def _without_cells(case: Case, target: Path, aside: Sequence[tuple[str, tuple[int, ...]]], root: Path) -> Case:
    """The case without the cells that stay, which run on neither side."""
    folder = root / "without_cells"
    sandbox.copy_program(case.old.folder, folder, skip=root)
    for name, numbers in aside:
        without_cells(folder / name, numbers)
        without_cells(target / name, numbers)
    path = folder / case.old.path.name if case.old.path.is_file() else folder
    named = ", ".join(f"{name}: {', '.join(map(str, numbers))}" for name, numbers in aside)
    said = f"cells that stay as they are run on neither side ({named})"
    return replace(case, old=replace(case.old, path=path), remarks=(*case.remarks, said))

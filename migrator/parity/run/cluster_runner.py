"""Runs a case on a cluster of real processes: the old side as Estimators, the new one as Keras, then compares."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from migrator.parity.judge.case import Case, Program, SideError
from migrator.parity.judge.compare import compare, compare_metrics
from migrator.parity.judge.loaded_values import compare_loaded_values
from migrator.parity.judge.report import DIFFERENT, EQUAL, CaseReport, Difference, SideReport, ValueRow
from migrator.parity.probe.recorded.store import Reader
from migrator.parity.run import process, sandbox
from migrator.parity.run.clusters import Cluster, parse
from migrator.parity.run.local_cluster import Run, port_was_taken, started, wait
from migrator.parity.run.progress import Progress
from migrator.parity.run.seeds import compared

HERE = Path(__file__).resolve().parent.parent
ATTEMPTS = 3
SEEDS = 5
"""How often both sides train where trainers race each other, unless the case says it."""


class LastEvaluation(Reader):
    """Of a recording only the metrics that came last: an evaluator may skip checkpoints, never the final one."""

    def of(self, event_type: str) -> Iterator[dict[str, Any]]:
        events = [event for event in super().of(event_type) if event_type == "metrics"]
        return iter([{**event, "call": 1} for event in events[-1:]])

    def loss(self) -> float:
        """Raises SideError if nothing was evaluated."""
        for event in self.of("metrics"):
            if "loss" in event["metrics"]:
                return float(self.array(event["metrics"]["loss"]))
        raise SideError("the evaluator evaluated nothing: does the program call train_and_evaluate, with max_steps?")


def compare_on_cluster(case: Case, root: Path, progress: Progress) -> CaseReport:
    """Train both sides on ``case.cluster`` in folders below `root`. Raises CaseError, SideError."""
    cluster = parse(case.cluster)
    report = CaseReport(case.name, tolerance=case.tolerance, mode=case.mode)
    report.old.program, report.new.program = str(case.old), str(case.new)
    report.notes.append(f"on clusters of processes: old {_text(cluster, 'old')}; new {_text(cluster, 'new')}")
    if cluster.asynchronous:
        _over_seeds(report, case, cluster, root, progress)
        return report
    assert case.new is not None
    report.old = run_side("old", case.old, root / "old", progress, case, cluster)
    report.new = run_side("new", case.new, root / "new", progress, case, cluster, root / "old" / "recording")
    sections = [section for section in case.compare if section not in ("metrics", "predictions", "batches")]
    for name in cluster.recorded():
        part = report if name == "chief0" else CaseReport(name, tolerance=case.tolerance)
        own = sections if part is report else [section for section in sections if section != "checkpoints"]
        compare(part, *_readers(root, name), own)  # only those of the chief are kept
        if part is not report:
            report.differences += [
                replace(one, where=", ".join(filter(None, (name, one.where)))) for one in part.differences
            ]
            report.notes.append(f"{name}: {len(part.losses)} losses, worst relative difference {part.worst_loss:.1e}")
    if cluster.evaluator and "metrics" in case.compare:
        old, new = (LastEvaluation(str(root / side / "recording" / "evaluator0")) for side in ("old", "new"))
        old.loss()
        report.differences += compare_metrics(report, old, new)
    if report.losses or report.differences:
        report.verdict = DIFFERENT if report.differences else EQUAL
    return report


def _over_seeds(report: CaseReport, case: Case, cluster: Cluster, root: Path, progress: Progress) -> None:
    assert case.new is not None
    runs: list[tuple[float, float, float]] = []
    seeds = case.seeds or SEEDS
    for seed in range(1, seeds + 1):
        folders = [root / f"{name}-{seed}" for name in ("old", "again", "new")]
        for side, folder in zip(("old", "old", "new"), folders):
            program = case.new if side == "new" else case.old
            recording = folders[0] / "recording" if side == "new" else None
            done = run_side(side, program, folder, progress, case, cluster, recording, seed)
            total = getattr(report, side)
            done.seconds += total.seconds
            done.versions = next(
                (event["versions"] for event in Reader(str(folder / "recording" / "chief0")).of("meta")), {}
            )
            setattr(report, side, done)
        old, again, new = (LastEvaluation(str(folder / "recording" / "evaluator0")).loss() for folder in folders)
        if not runs and "initial values" in case.compare:  # the same for each seed
            chiefs = [Reader(str(folder / "recording" / "chief0")) for folder in (folders[0], folders[2])]
            report.differences += compare_loaded_values(report, *chiefs)
        runs.append((old, again, new))
        relative = abs(new - old) / abs(old) if old else float(new != old)
        report.metrics.append(ValueRow(seed, "loss", f"{old:.9g}", f"{new:.9g}", relative, True))
    comparison = compared(runs)
    if comparison.differs:
        report.differences.append(Difference("metrics", f"{seeds} seeds", str(comparison)))
    else:
        report.notes.append(str(comparison))
    report.verdict = DIFFERENT if report.differences else EQUAL


def run_side(
    side: str,
    program: Program,
    root: Path,
    progress: Progress,
    case: Case,
    cluster: Cluster,
    recording: Path | None = None,
    seed: int = 1,
) -> SideReport:
    """Run all processes of one side in a sandbox at `root`, each recording into a folder of its own.

    Raises SideError, CaseError.
    """
    start, shape, begin = program.start(), cluster.shape(side), time.monotonic()
    for _ in range(ATTEMPTS):
        box = sandbox.make(root.resolve(), program)
        entry, now = sandbox.script_of(box, start), time.time()

        def command(
            job: str, index: int, box: sandbox.Sandbox = box, entry: str = entry, now: float = now
        ) -> list[str]:
            name = f"{job}{index}"
            watched = name in cluster.recorded()
            config = {
                "output": str(box.recording / name),
                "progress": str(box.progress) + ("" if name == "chief0" else f"-{name}"),
                "sandbox": str(box.root),
                "folder": str(box.program),
                "entry": str(box.program / entry) if entry else "",
                "module": program.module,
                "cwd": program.cwd,
                "args": list(program.args),
                "mode": "replay",
                "dialect": case.dialect,
                "variables": [list(pair) for pair in case.variables],
                "derived": [[list(pair) for pair in pairs] for pairs in case.derived],
                "recording": str(recording / (name if watched else "chief0")) if recording else "",
                "cluster": {
                    "started": now,
                    "steps": case.steps,
                    "seed": seed,
                    "asynchronous": cluster.asynchronous,
                    "mirrored": not cluster.servers,
                    "watched": watched,
                },
            }
            file = box.root / f"config-{name}.json"
            file.write_text(json.dumps(config, indent=1), "utf-8")
            return [program.python, str(HERE / "probe_entry.py"), side, str(file)]

        env = process.environment(str(box.temporary))
        if side == "old":
            env.pop("TF_USE_LEGACY_KERAS", None)
        with progress.side(case.name, side, box.progress) as on_poll:
            try:
                with started(shape, command, box.root / "logs", box.program, env) as run:
                    wait(run, shape, case.timeout, on_poll)
            except OSError as error:
                raise SideError(f"the {side} program could not be started: {error}") from error
        if not run.problem or not port_was_taken(run):
            break
    if run.problem:
        raise SideError(_failure(side, program, run, box))
    log = run.log("chief0")
    return SideReport(str(program), {}, time.monotonic() - begin, str(log), process.tail(str(log)))


def _failure(side: str, program: Program, run: Run, box: sandbox.Sandbox) -> str:
    for folder in sorted(box.recording.glob("*")):
        for event in Reader(str(folder)).of("mismatch"):
            return str(event["text"])
    name = run.first or "chief0"
    what, lines = process.error(str(run.log(name)), str(box.program))
    text = "\n".join("  | " + line for line in lines)
    return f"the {side} cluster of {program}: {run.problem}; {what} the log of {name}:\n{text}"


def _readers(root: Path, name: str) -> tuple[Reader, Reader]:
    old, new = (Reader(str(root / side / "recording" / name)) for side in ("old", "new"))
    return old, new


def _text(cluster: Cluster, side: str) -> str:
    return ", ".join(f"{number} {job}" for job, number in cluster.shape(side).jobs.items())

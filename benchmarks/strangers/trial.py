"""Tries one program: rebuilds it, migrates a copy, runs that, and compares both."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from migrator.discover.notebooks import script

from . import made_up, mirrors
from .manifest import Program

TIERS = ("plain fit", "helpers", "bridge", "manual")
EQUAL, DIFFERENT, CRASHED, OLD_FAILS = "equal", "different", "does not run", "old side does not run"
SLOW = "not ended in time"
NOT_COMPARED = "not compared"
_UNPAIRED = "the variables of the two programs could not be paired"
_PLACE = re.compile(r" \((?P<path>[^()\s:]+):(?P<line>\d+)(:\d+)?\)")


@dataclass
class Row:
    """What became of one program."""

    repository: str
    program: str
    tier: str = ""
    result: str = ""
    """One of the words above, or empty for a program that stays manual."""
    exit_status: int = 0
    """Of `migrate --apply`: 0 promises that nothing is left to do."""
    runs: str = ""
    """How the migrated program ended by itself."""
    reasons: list[str] = field(default_factory=list)
    """What stands in the way of the better tiers, of equality, or of running."""

    @property
    def counts(self) -> bool:
        """Whether the old side runs, without which nothing can be said."""
        return self.result != OLD_FAILS

    @property
    def broken(self) -> bool:
        """Whether something is wrong of which the owner was not told."""
        return self.counts and self.exit_status == 0 and self.result in (DIFFERENT, CRASHED)


def _run(
    command: list[str], folder: Path, log: Path, limit: float, variables: Mapping[str, str] | None = None
) -> int | None:
    """The exit status, or None where the time was up."""
    plain = {"TF_CPP_MIN_LOG_LEVEL": "2", "PYTHONDONTWRITEBYTECODE": "1", "MPLBACKEND": "Agg"}
    environment = {**os.environ, **plain, **(variables or {})}
    with log.open("w") as out:
        process = subprocess.Popen(
            command, cwd=folder, stdout=out, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, env=environment
        )
        try:
            return process.wait(limit)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            return None


def _last_error(log: Path) -> str:
    lines = [line.strip() for line in log.read_text("utf-8", "replace").splitlines() if line.strip()]
    errors = [line for line in lines if re.match(r"[\w.]*(Error|Exception|Exit)\b", line)]
    return (errors or lines or [""])[-1][:300]


def _tier(report: dict[str, Any], tree: Path) -> str:
    tiers = {program["tier"] for program in report["programs"]}
    if not tiers or "manual" in tiers:
        return "manual"
    if "bridge" in tiers:
        return "bridge"
    helpers = any(next(tree.rglob(name), None) for name in ("tf2_training.py", "tf2_cluster.py"))
    return "helpers" if helpers else "plain fit"


def _reasons(report: dict[str, Any], tree: Path) -> list[str]:
    """Of all programs, with places as `file:line`, each once."""
    programs = report["programs"]
    found = [reason for program in programs for reason in (program["reason"], *program["others"]) if reason]
    if not found and _tier(report, tree) == "helpers":
        found = [f"no plain fit: {program['helpers']}" for program in programs if program.get("helpers")]
    short = [_PLACE.sub(lambda match: f" ({Path(match['path']).name}:{match['line']})", reason) for reason in found]
    return list(dict.fromkeys(short)) or ([] if programs else ["no Estimator is seen"])


def attempt(program: Program, folders: Path, work: Path, limit: float) -> Row:
    """Everything about one program; logs stay in `work`."""
    folder = work / program.name
    shutil.rmtree(folder, ignore_errors=True)
    before, after = folder / "before", folder / "after"
    before.mkdir(parents=True)
    if program.left_out:
        return Row(program.repository, program.name, result=OLD_FAILS, reasons=[program.left_out])
    mirrors.rebuild(program, folders, before)
    made_up.make(program.data, before)
    shutil.copytree(before, after)
    row = Row(program.repository, " ".join([program.name, *program.options]))
    told = ["--apply", *program.options, "-q", "--format", "json", "-o", "migrate.json"]
    command = [sys.executable, "-m", "migrator", "after", *told]
    status = _run(command, folder, folder / "migrate.log", 600)
    row.exit_status = 2 if status is None else status
    if row.exit_status not in (0, 1):
        row.tier, row.result, row.reasons = "manual", CRASHED, [_last_error(folder / "migrate.log")]
        return row
    report = json.loads((folder / "migrate.json").read_text("utf-8"))
    row.tier, row.reasons = _tier(report, after), _reasons(report, after)
    if row.tier == "manual":
        _run([sys.executable, "-m", "migrator", "parity", *_compared(program, before, before)],
             folder, folder / "old.log", 400, program.environment)  # fmt: skip
        _stays(folder, row)
        return row
    # a run of its own, in a copy: the comparison replaces weights and batches, and may hide what only users would see
    shutil.copytree(after, folder / "run")
    place = folder / "run" / program.cwd
    if program.entry.endswith(".ipynb"):
        notebook = folder / "run" / program.entry
        notebook.with_suffix(".py").write_text(script(notebook.read_bytes()), "utf-8")
    start = [part.removesuffix(".ipynb") + ".py" if part.endswith(".ipynb") else part for part in program.start]
    status = _run([sys.executable, *start], place, folder / "run.log", limit, program.environment)
    row.runs = "still training" if status is None else "ended" if status == 0 else _last_error(folder / "run.log")
    status = _run([sys.executable, "-m", "migrator", "parity", *_compared(program, before, after)],
                  folder, folder / "parity.log", 1000, program.environment)  # fmt: skip
    row.result = {0: EQUAL, 1: DIFFERENT}.get(2 if status is None else status) or _blame(folder, row)
    if row.result == EQUAL and row.runs not in ("ended", "still training"):
        row.result = CRASHED
        row.reasons.insert(0, row.runs)
    elif row.result == DIFFERENT:
        row.reasons.insert(0, _difference(folder))
    return row


def _compared(program: Program, before: Path, after: Path) -> list[str]:
    start = ["-m", program.module] if program.module else ["--entry", program.entry]
    start += ["--cwd", program.cwd] if program.cwd else []
    options = ["--steps", str(program.steps), "-q", "--json", "parity.json", "--timeout", "400"]
    return [before.name, after.name, *start, *options, "--", *program.args]


def _case(folder: Path) -> dict[str, Any]:
    try:
        cases: list[dict[str, Any]] = json.loads((folder / "parity.json").read_text("utf-8"))["cases"]
    except (OSError, ValueError, KeyError):
        return {}
    return cases[0] if cases else {}


def _difference(folder: Path) -> str:
    case = _case(folder)
    differences = case.get("differences", [])
    first = f"{differences[0]['where']}: {differences[0]['message']}" if differences else ""
    return f"{len(differences)} differences, first {first}"


def _stays(folder: Path, row: Row) -> None:
    """Whether a program that stays manual ran as it was. That it does not run as a new program is no news."""
    problem = str(_case(folder).get("problem", ""))
    if problem.startswith("the old "):
        row.result, row.reasons = OLD_FAILS, [_short(problem), *row.reasons]


def _short(problem: str) -> str:
    return " ".join(problem.split())[:300]


def _blame(folder: Path, row: Row) -> str:
    """Which side could not run, by what the comparison says of it."""
    problem = str(_case(folder).get("problem", ""))
    if not problem or "ran longer than" in problem.split("\n")[0]:
        row.reasons.insert(0, "the comparison took too long")
        return SLOW
    row.reasons.insert(0, _short(problem))
    if problem.startswith(_UNPAIRED):  # both ran
        return NOT_COMPARED
    return OLD_FAILS if problem.startswith("the old ") else CRASHED

"""Checkpoints in the folder of a program that is compared: it goes on from them, and takes other steps than the other side."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from migrator.parity.judge.case import Case, Program
from migrator.parity.judge.report import CaseReport
from migrator.parity.run.sandbox import SKIPPED

_INDEX = "checkpoint"
"""The file beside checkpoints that names the newest one."""


def told(case: Case, report: CaseReport) -> list[str]:
    """What to do where one side took fewer steps, and its folder holds checkpoints, maybe of an earlier run."""
    if not any(difference.section == "steps" for difference in report.differences):
        return []
    sides = [(name, side) for name, side in (("old", case.old), ("new", case.new)) if side is not None]
    return [
        f"the folder of the {name} program holds checkpoints, from which it may have gone on ({', '.join(folders)}): "
        "remove them, or compare where the program names another model_dir"
        for name, side in sides
        if (folders := sorted(_folders(side)))
    ]


def _folders(program: Program) -> Iterator[str]:
    """Folders of checkpoints in that of a program, as it names them."""
    for folder, below, files in os.walk(program.folder):
        below[:] = [name for name in below if name not in SKIPPED]
        if _INDEX in files and any(name.endswith(".index") for name in files):
            yield os.path.relpath(folder, Path(program.folder))

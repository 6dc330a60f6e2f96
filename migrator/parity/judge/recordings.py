"""Recordings of old programs that are kept, so that what needs an old TensorFlow runs once and not for each comparison."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

from migrator.parity.judge.case import Case
from migrator.parity.judge.report import SideReport
from migrator.parity.run import sandbox

MANIFEST = "recording.json"
FORMAT = 9
"""Counts up when what is recorded changes."""


@dataclass(frozen=True)
class Recorded:
    """A side that ran: where its recording is, and what the report says of it."""

    folder: Path
    side: SideReport


class Recordings:
    """A folder with one recording for each case, and those of runs with a `nudge` beside it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.resolve()  # programs run in folders of their own

    def find(self, case: Case, nudge: int = 0) -> Recorded | None:
        """The recording of a case; None if there is none, or it is of another state of the program or its arguments.

        Raises CaseError if the program has too many files.
        """
        folder = self._place(case, nudge)
        try:
            manifest = json.loads((folder / MANIFEST).read_text("utf-8"))
            side = SideReport(str(case.old), {}, float(manifest["seconds"]))
            return Recorded(folder, side) if manifest["stamp"] == self._stamp(case) else None
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def keep(self, case: Case, recorded: Recorded, nudge: int = 0) -> None:
        """Copy a recording into the folder, in place of an older one of the case."""
        place = self._place(case, nudge)
        self.folder.mkdir(parents=True, exist_ok=True)
        copy = Path(tempfile.mkdtemp(prefix=".recording-", dir=self.folder))
        try:
            shutil.copytree(recorded.folder, copy, dirs_exist_ok=True)
            manifest = {"stamp": self._stamp(case), "program": case.old.path.name, "seconds": recorded.side.seconds}
            (copy / MANIFEST).write_text(json.dumps(manifest, indent=1) + "\n", "utf-8")
            shutil.rmtree(place, ignore_errors=True)
            os.replace(copy, place)  # whole or not at all, should this process end here
        finally:
            shutil.rmtree(copy, ignore_errors=True)

    def _stamp(self, case: Case) -> str:
        return _stamp(case, self.folder)

    def _place(self, case: Case, nudge: int) -> Path:
        seed = f".seed{case.seed}" if case.mode == "free" else ""  # one recording for each
        return self.folder / (case.folder_name + seed + (f".nudge{nudge}" if nudge else ""))


def _stamp(case: Case, skip: Path) -> str:
    """A checksum of the program's files, without those in `skip`, and of how it is run. Of large files the size counts."""
    old = case.old
    seed = (case.seed,) if case.seed else ()
    how = (old.path.name, old.entry, old.module, old.cwd, old.args, case.steps, case.mode, case.dialect, *seed)
    return sandbox.digest(old.folder, skip, repr((FORMAT, *how)))

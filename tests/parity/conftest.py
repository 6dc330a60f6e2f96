"""The old program is recorded once for all tests that need it; each test replays one variant of the new one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Callable

import pytest

from migrator.parity.judge.case import Case, Program
from migrator.parity.judge.recordings import Recorded
from migrator.parity.judge.report import CaseReport
from migrator.parity.run.progress import Progress
from migrator.parity.run.runner import replay_and_compare, run_side

PROGRAMS = Path(__file__).parent / "programs"


@pytest.fixture(scope="session")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    """`programs/old.py`, recorded in live mode (which serves replay mode as well)."""
    case = Case("old", Program(PROGRAMS / "old.py"), mode="live")
    return run_side("old", case.old, tmp_path_factory.mktemp("old") / "side", Progress(quiet=True), case, None)


@pytest.fixture
def replay(recorded: Recorded, tmp_path: Path) -> Callable[..., CaseReport]:
    """Replay `programs/new.py` with a fault, and compare."""

    def run(fault: str = "", mode: str = "replay", **changes: object) -> CaseReport:
        args = (fault,) if fault else ()
        case = Case("case", Program(PROGRAMS / "old.py"), Program(PROGRAMS / "new.py", args=args), mode=mode)
        case = replace(case, **changes)  # type: ignore[arg-type]
        return replay_and_compare(case, recorded, tmp_path / "new", Progress(quiet=True))

    return run

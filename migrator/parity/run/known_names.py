"""Which variables of both sides belong together, as a migration of the old program knows."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

from migrator.parity.judge.case import Case, CaseError
from migrator.parity.run import sandbox
from migrator.parity.run.migrate import MigrationError, migrate_copy
from migrator.vocabulary.settings import Settings

Pairs = tuple[tuple[tuple[str, str], ...], ...]

_found: dict[tuple[str, str, str], Pairs] = {}
"""By the state of a program, the file that starts it and the settings: its further cases need no further migration."""


def with_names(case: Case, root: Path, settings: Settings) -> Case:
    """The case with the pairs of variables that a migration of the old program knows, if there is one."""
    target = root / "named"
    try:
        key = sandbox.digest(case.old.folder, skip=root), case.old.start(), repr(settings)
        if key not in _found:
            sandbox.copy_program(case.old.folder, target, skip=root)
            _found[key] = tuple(unit.variables for unit in migrate_copy(target, key[1], settings).units)
    except (CaseError, MigrationError):
        return case
    finally:
        shutil.rmtree(target, ignore_errors=True)
    return replace(case, derived=_found[key])

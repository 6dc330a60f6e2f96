"""Migrates a scratch copy of a program, in place."""

from __future__ import annotations

from pathlib import Path

from migrator.diagnostics import ProgramUnit


class MigrationError(Exception):
    """The program could not be migrated; the text says where and why."""


def migrate_copy(folder: Path) -> tuple[ProgramUnit, ...]:
    """Migrate every file below `folder` and write the results there. Raises MigrationError if nothing was migrated."""
    from migrator.runner import migrate
    from migrator.settings import Settings

    outcomes = migrate([str(folder)], Settings(apply=True)).outcomes
    written = 0
    for outcome in outcomes:
        if outcome.status in ("changed", "created"):
            path = Path(outcome.path)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(outcome.after)
            written += 1
    units = tuple(unit for outcome in outcomes for unit in outcome.units)
    manual = [unit for unit in units if unit.tier == "manual"]
    left = not units and any(b".estimator." in (outcome.after or outcome.before) for outcome in outcomes)
    if manual or left or not written:
        reasons = [f"{unit.location}: {unit.name} was left as it is: {unit.reason}" for unit in manual]
        reasons += [str(item) for outcome in outcomes for item in outcome.remaining if not manual]
        text = "\n".join(f"  {reason.replace(str(folder) + '/', '')}" for reason in reasons[:20])
        raise MigrationError("the program was not migrated" + (":\n" + text if text else ": no file needed a change"))
    return units

"""Migrates a scratch copy of a program, in place."""

from __future__ import annotations

import json
import os
from collections.abc import Collection
from dataclasses import dataclass, replace
from pathlib import Path

from migrator.vocabulary.diagnostics import Outcome, ProgramUnit
from migrator.vocabulary.settings import Settings


class MigrationError(Exception):
    """The program could not be migrated; the text says where and why."""


@dataclass(frozen=True)
class Migrated:
    """What was done to a copy."""

    units: tuple[ProgramUnit, ...]
    """What the migration says of the models of the program."""
    aside: tuple[tuple[str, tuple[int, ...]], ...] = ()
    """Cells of notebooks, by path from the folder, that stay while the others move."""


def migrate_copy(folder: Path, start: str = "", settings: Settings | None = None) -> Migrated:
    """Migrate the Python files below `folder` and write the results there.

    Args:
      folder: a copy of the program.
      start: the file that starts it, relative to `folder`. Other programs in the folder, which are not connected with
        it by imports, may stay unmigrated. Empty: all count.
      settings: those of the program, by default none.

    Raises:
      MigrationError: nothing was migrated, or a model of this program was left as it was.
    """
    from migrator.engine.runner import migrate

    outcomes = migrate([str(folder)], replace(settings or Settings(), apply=True)).outcomes
    mine = _of_program(outcomes, str(folder / start)) if start else outcomes
    units = tuple(unit for outcome in mine for unit in outcome.units if unit.location.cell not in outcome.cells_aside)
    changed = [outcome for outcome in mine if outcome.status in ("changed", "created")]
    manual = [unit for unit in units if unit.tier == "manual"]
    left = not units and any(b".estimator." in (outcome.after or outcome.before) for outcome in mine)
    if manual or left or not changed:
        reasons = [f"{unit.location}: {unit.name} was left as it is: {'; '.join(unit.reasons)}" for unit in manual]
        reasons += [str(item) for outcome in mine for item in outcome.remaining if not manual]
        text = "\n".join(f"  {reason.replace(str(folder) + '/', '')}" for reason in reasons[:20])
        raise MigrationError("the program was not migrated" + (":\n" + text if text else ": no file needed a change"))
    for outcome in outcomes:
        if outcome.status in ("changed", "created"):
            path = Path(outcome.path)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(outcome.after)
    aside = ((os.path.relpath(outcome.path, folder), outcome.cells_aside) for outcome in mine if outcome.cells_aside)
    return Migrated(units, tuple(aside))


def without_cells(notebook: Path, numbers: Collection[int]) -> None:
    """Empty cells of a notebook, counted from 1."""
    content = json.loads(notebook.read_text("utf-8"))
    for number in numbers:
        content["cells"][number - 1]["source"] = []
    notebook.write_text(json.dumps(content), "utf-8")


def _of_program(outcomes: tuple[Outcome, ...], start: str) -> tuple[Outcome, ...]:
    """The outcomes of the files that the file `start` imports once they are migrated, itself among them.

    If nothing there is a program, those that are connected with it by imports, and those of new files.
    """
    from migrator.discover.components import components, import_graph, reach

    before = {outcome.path: Path(outcome.path).read_bytes() for outcome in outcomes if outcome.status != "created"}
    after = before | {outcome.path: outcome.after for outcome in outcomes if outcome.status in ("changed", "created")}
    needed = reach([start], import_graph(after))
    mine = tuple(outcome for outcome in outcomes if outcome.path in needed)
    if any(outcome.units for outcome in mine):
        return mine
    for part in components(before, import_graph(before)):
        if start in part.files:
            return tuple(o for o in outcomes if o.path in part.files or o.status == "created")
    return outcomes

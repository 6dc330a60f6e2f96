"""What the report says about whole programs, gathered over the rounds of a run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from migrator.engine.checking import Finding
from migrator.vocabulary.diagnostics import ProgramUnit


class Units:
    """Programs by file and name. One counts as migrated from the round on in which its rewrite was applied."""

    def __init__(self) -> None:
        self._migrated: dict[tuple[str, str], ProgramUnit] = {}
        self._left: dict[tuple[str, str], ProgramUnit] = {}

    def settle(
        self,
        units: Iterable[tuple[str, ProgramUnit]],
        applied: Iterable[Finding],
        refused: Mapping[tuple[str, str], str] | None = None,
    ) -> None:
        """Take in one round: the units named, with the codes of their rules, and the program fixes applied.

        `refused` says by rule and file why others were not.
        """
        fixes = [(finding.rule, finding.paths) for finding in applied]
        self._left = {}
        for rule, unit in units:
            key = (unit.location.path, unit.name)
            done = any(rule == code and unit.location.path in paths for code, paths in fixes)
            if unit.tier != "manual" and done:
                self._migrated[key] = unit
            elif unit.tier == "manual":
                self._left[key] = unit
            else:
                why = (refused or {}).get((rule, unit.location.path), "")
                reason = unit.reason or f"its rewrite was not applied{': ' * bool(why)}{why}"
                self._left[key] = replace(unit, tier="manual", reason=f"{reason} (could become {unit.tier})")

    def all(self) -> list[ProgramUnit]:
        """The units of all files."""
        return list({**self._left, **self._migrated}.values())

    def of(self, path: str) -> Iterator[ProgramUnit]:
        """The units of one file, in source order."""
        merged = {**self._left, **self._migrated}
        found = [unit for (where, _), unit in merged.items() if where == path]
        yield from sorted(found, key=lambda unit: (unit.location, unit.name))


def is_remark(finding: Finding, applied: Iterable[Finding]) -> bool:
    """Whether a program rule said this beside a rewrite of the same place that was applied.

    The rewrite removes what the remark is about, so no later round would say it again.
    """
    diagnostic = finding.diagnostic
    if not finding.program or diagnostic.fix is not None:
        return False
    return any(finding.rule == other.rule and diagnostic.location.path in other.paths for other in applied)

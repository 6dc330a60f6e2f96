"""Whether the new program keeps the moving averages of weights that the old one kept, whoever reads them."""

from __future__ import annotations

import math
from collections.abc import Collection

from migrator.parity.judge.distances import array_distance, arrays_close
from migrator.parity.judge.drift import Drift
from migrator.parity.judge.report import ArrayRow, Tolerance
from migrator.parity.probe.recorded.averages import averaged
from migrator.parity.probe.recorded.store import Reader

HOLDER = "the variable that is nearest to it"


def averages(
    name: str, stream: int, old: Reader, new: Reader, tolerance: Tolerance, drift: Drift, idle: Collection[str] = ()
) -> list[ArrayRow]:
    """A row for each average at the end of training but for those of weights in `idle`, which rounding alone moves.

    None where the new side has not trained as far, or several processes have.
    """
    sides = []
    for reader in (old, new):
        ends = [event["variables"] for event in reader.of("averages") if event["stream"] == stream]
        if not ends:
            return []
        sides.append(ends[-1])
    rows = []
    for variable, reference in sides[0].items():
        if averaged(variable, idle):
            continue
        distance = math.inf, math.inf
        if variable in sides[1]:
            distance = array_distance(old.array(reference), new.array(sides[1][variable]))
        equal = arrays_close(*distance, tolerance) or drift.excuses(distance[1], "weights", name, variable)
        rows.append(ArrayRow(name, variable, HOLDER, tuple(reference["shape"]), *distance, equal, "value"))
    return rows

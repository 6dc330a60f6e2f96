"""Compares the SavedModels that both sides exported: signatures, names, types, and what they compute for the same inputs."""

from __future__ import annotations

from typing import Any

from migrator.parity.distances import array_distance, arrays_close
from migrator.parity.probe.store import Reader
from migrator.parity.report import ArrayRow, CaseReport, Difference

NOT_WATCHED = (
    "not compared: the SavedModels that the program exports, as the new one writes none with tf.saved_model.save"
)


def compare_exports(report: CaseReport, old: Reader, new: Reader) -> list[Difference]:
    """Fill the outputs of SavedModels of `report`, and return the differences among them."""
    left = {event["call"]: event for event in old.of("export")}
    right = {event["call"]: event for event in new.of("export")}
    if left and not right:
        report.notes.append(NOT_WATCHED)
        return []
    found = []
    for call in sorted(set(left) | set(right)):
        where = f"export {call}"
        if call not in left or call not in right:
            found.append(Difference("exports", where, f"is missing in the {'new' if call in left else 'old'} program"))
            continue
        a, b = left[call]["signatures"], right[call]["signatures"]
        if "problem" in left[call]:  # a note says so
            continue
        if "problem" in right[call]:
            found.append(Difference("exports", where, right[call]["problem"]))
            continue
        for name in sorted(set(a) | set(b)):
            if name not in a or name not in b:
                side = "new" if name not in b else "old"
                found.append(Difference("exports", where, f"the signature {name!r} is missing in the {side} program"))
            else:
                found += _signature(report, f"{where}, {name}", a[name], b[name], old, new)
    return found


def _signature(
    report: CaseReport, where: str, a: dict[str, Any], b: dict[str, Any], old: Reader, new: Reader
) -> list[Difference]:
    """The differences of one signature."""
    for side in ("inputs", "outputs"):
        if a[side] != b[side]:
            texts = [", ".join(f"{key}: {kind}" for key, kind in sorted(part[side].items())) for part in (a, b)]
            return [Difference("exports", where, f"{side}: old {texts[0]}; new {texts[1]}")]
    found = []
    for key in sorted(a.get("values", {})):
        x, y = old.array(a["values"][key]), new.array(b["values"][key])
        distance = array_distance(x, y)
        equal = x.shape == y.shape and arrays_close(*distance, report.tolerance)
        report.exports.append(ArrayRow(where, key, key, tuple(x.shape), *distance, equal))
        if x.shape != y.shape:
            found.append(Difference("exports", where, f"{key}: old shape {list(x.shape)}, new {list(y.shape)}"))
        elif not equal:
            message = f"{key} differs by {distance[0]:.2g} (relative {distance[1]:.2g})"
            found.append(Difference("exports", where, message))
    return found

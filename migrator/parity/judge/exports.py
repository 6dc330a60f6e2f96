"""Compares the SavedModels that both sides exported: signatures, names, types, and what they compute for the same inputs."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np

from migrator.parity.judge.distances import apart_text, array_distance, arrays_close
from migrator.parity.judge.drift import OUTPUTS, Drift
from migrator.parity.judge.report import ArrayRow, CaseReport, Difference
from migrator.parity.probe.recorded.store import Reader

_REPEATED = frozenset({"all_class_ids", "all_classes"})
NOT_WATCHED = (
    "not compared: the SavedModels that the program exports, as the new one writes none with tf.saved_model.save"
)


def compare_exports(report: CaseReport, old: Reader, new: Reader, drift: Drift) -> list[Difference]:
    """Fill the outputs of SavedModels of `report`, and return the differences among them."""
    left, right = _by_folder(old), _by_folder(new)
    if left and not right:
        if not any(event["found"] for event in new.of("saved models")):
            folders = ", ".join(sorted(left))
            return [Difference("exports", f"export to {folders}", "the new program writes no SavedModel")]
        report.notes.append(NOT_WATCHED)
        return []
    if len(left) == len(right) == 1:  # whatever it is called
        right = {name: events for name in left for events in right.values()}
    found = []
    for folder in sorted(set(left) | set(right)):
        where = f"export to {folder}"
        if folder not in left or folder not in right:
            side = "new" if folder in left else "old"
            found.append(Difference("exports", where, f"is missing in the {side} program"))
            continue
        ours, theirs = left[folder], right[folder]
        if len(ours) != len(theirs):  # a BestExporter of TensorFlow 1 may know the first evaluation already
            report.notes.append(f"{where}: old {len(ours)} times, new {len(theirs)} times; the last ones are compared")
        pairs = list(zip(ours[::-1], theirs[::-1]))[::-1]
        for number, (a, b) in enumerate(pairs, 1):
            found += _export(report, f"{where} {number}" if len(pairs) > 1 else where, a, b, old, new, drift)
    return found + _kept(old, new)


def _kept(old: Reader, new: Reader) -> list[Difference]:
    """The folders in which other exports are left at the end, or other files beside one of them."""
    sides = [{event["folder"]: event for event in reader.of("kept exports")} for reader in (old, new)]
    if len(sides[0]) == len(sides[1]) == 1:  # whatever it is called
        sides[1] = dict(zip(sides[0], sides[1].values()))
    found = []
    for folder in sorted(sides[0].keys() & sides[1].keys()):
        where, events = f"export to {folder}", [side[folder] for side in sides]
        both = min(event["written"] for event in events)
        left = [{int(age): files for age, files in event["left"].items() if int(age) < both} for event in events]
        if left[0].keys() != left[1].keys():
            texts = [_ages(ages, both) for ages in left]
            found.append(Difference("exports", where, f"kept at the end: old {texts[0]}; new {texts[1]}"))
            continue
        for age in sorted(left[0]):
            for name in sorted(left[0][age].keys() | left[1][age].keys()):
                if left[0][age].get(name) != left[1][age].get(name):
                    problem = "differs" if name in left[0][age] and name in left[1][age] else "is on one side only"
                    found.append(Difference("exports", where, f"the file {name} beside the model {problem}"))
            ours, theirs = (event["methods"].get(str(age), {}) for event in events)
            for name in sorted(ours.keys() & theirs.keys()):
                if ours[name] != theirs[name]:
                    message = f"the method name: old {ours[name]}, new {theirs[name]}"
                    found.append(Difference("exports", f"{where}, {name}", message))
    return found


def _ages(left: Collection[int], written: int) -> str:
    """Which of `written` exports are left, counted from the first."""
    numbers = ", ".join(str(written - age) for age in sorted(left, reverse=True))
    return f"number {numbers} of {written}" if left else f"none of {written}"


def _by_folder(reader: Reader) -> dict[str, list[dict[str, Any]]]:
    """The exports of one side, in order, by the name of the folder that they go to."""
    found: dict[str, list[dict[str, Any]]] = {}
    for event in reader.of("export"):
        found.setdefault(event["folder"], []).append(event)
    return found


def _export(
    report: CaseReport, where: str, a: dict[str, Any], b: dict[str, Any], old: Reader, new: Reader, drift: Drift
) -> list[Difference]:
    """The differences of two exports."""
    if "problem" in a:  # a note says so
        return []
    if "problem" in b:
        return [Difference("exports", where, b["problem"])]
    found = []
    ours, theirs = a["signatures"], b["signatures"]
    for name in sorted(set(ours) | set(theirs)):
        if name not in ours or name not in theirs:
            side = "new" if name not in theirs else "old"
            found.append(Difference("exports", where, f"the signature {name!r} is missing in the {side} program"))
        else:
            call = str(a["call"])
            given = {part: theirs[name].get(part, {}).get(call) for part in OUTPUTS}
            values = {**theirs[name], **given, "values": given["values"] or {}}
            kept = _without_repeated(report, f"{where}, {name}", ours[name], values, old)
            found += _signature(report, f"{where}, {name}", kept, values, old, new, drift)
    return found


def _without_repeated(
    report: CaseReport, where: str, a: dict[str, Any], b: dict[str, Any], old: Reader
) -> dict[str, Any]:
    """A signature of a canned Estimator, or of a head, without what it gives for each example, though it is the same for all."""
    gone = {key for key in _REPEATED if key in a["outputs"] and key not in b["outputs"]}
    headed = any(event.get("canned") for event in old.of("begin")) or any(True for _ in old.of("head"))
    if not gone or not headed:
        return a
    report.notes.append(f"{where}: a canned Estimator also gives {', '.join(sorted(gone))}; the new program does not")
    return {
        **a,
        **{part: {k: v for k, v in a[part].items() if k not in gone} for part in ("outputs", "values") if part in a},
    }


def _signature(
    report: CaseReport, where: str, a: dict[str, Any], b: dict[str, Any], old: Reader, new: Reader, drift: Drift
) -> list[Difference]:
    """The differences of one signature."""
    for side in ("inputs", "outputs"):
        if a[side] != b[side]:
            texts = [", ".join(f"{key}: {kind}" for key, kind in sorted(part[side].items())) for part in (a, b)]
            return [Difference("exports", where, f"{side}: old {texts[0]}; new {texts[1]}")]
    found = _blanks(report, where, a, b, old, new, drift)
    for key in sorted(a.get("values", {})):
        if key not in b["values"]:
            found.append(
                Difference("exports", where, f"{key}: the new program does not compute it for the same inputs")
            )
            continue
        x, y = old.array(a["values"][key]), new.array(b["values"][key])
        distance = array_distance(x, y)
        equal = x.shape == y.shape and (
            arrays_close(*distance, report.tolerance) or drift.excuses(distance[1], "exports", where, key)
        )
        report.exports.append(ArrayRow(where, key, key, tuple(x.shape), *distance, equal))
        if x.shape != y.shape:
            found.append(Difference("exports", where, f"{key}: old shape {list(x.shape)}, new {list(y.shape)}"))
        elif not equal:
            found.append(Difference("exports", where, apart_text(key, x, y, *distance)))
    return found


def _blanks(
    report: CaseReport, where: str, a: dict[str, Any], b: dict[str, Any], old: Reader, new: Reader, drift: Drift
) -> list[Difference]:
    """The difference of what a signature makes of a line or an example that lacks all that it may lack, if any."""
    if "blank" not in a:
        return []
    if a["of blank"] is None or b["of blank"] is None:
        if a["of blank"] == b["of blank"]:
            return []
        side = "old" if a["of blank"] is None else "new"
        message = f"without the fields that have defaults, if any, it fails in the {side} program alone"
        return [Difference("exports", where, message)]
    for key in sorted(a["of blank"].keys() & b["of blank"].keys()):
        x, y = old.array(a["of blank"][key]), new.array(b["of blank"][key])
        if x.dtype.kind == y.dtype.kind == "f" and x.shape == y.shape and (np.isnan(x) == np.isnan(y)).all():
            x, y = np.nan_to_num(x), np.nan_to_num(y)
        distance = array_distance(x, y)
        near = arrays_close(*distance, report.tolerance) or drift.excuses(distance[1], "exports", where, key)
        if x.shape != y.shape or not near:
            text = apart_text(key, x, y, *distance)
            return [Difference("exports", where, f"without the fields that have defaults: {text}")]
    return []

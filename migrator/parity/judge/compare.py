"""Judges two recordings: which numbers differ, at which step first, and which variable went first.

Raises nothing for differing programs; what is missing on one side is a difference as much as a wrong number is.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import replace
from typing import Any

import numpy as np

from migrator.parity.checkpoints.checkpoints import compare_checkpoints
from migrator.parity.judge import batches
from migrator.parity.judge.averages import averages
from migrator.parity.judge.diagnosis import Parting, diagnosis
from migrator.parity.judge.distances import apart_text, array_distance, arrays_close, close, relative
from migrator.parity.judge.drift import Drift
from migrator.parity.judge.exports import compare_exports
from migrator.parity.judge.initial_values import compare_initial_values
from migrator.parity.judge.loaded_values import compare_loaded_values
from migrator.parity.judge.phrases import names_text
from migrator.parity.judge.report import (
    COULD_NOT_RUN,
    DIFFERENT,
    EQUAL,
    SECTIONS,
    ArrayRow,
    CaseReport,
    Difference,
    LossRow,
    Tolerance,
    ValueRow,
)
from migrator.parity.judge.summaries import compare_summaries
from migrator.parity.judge.trivial import trivial
from migrator.parity.judge.unmoved import unmoved
from migrator.parity.judge.vacuous import unlike, vacuous
from migrator.parity.probe.recorded.store import Reader


def compare(
    report: CaseReport,
    old: Reader,
    new: Reader,
    what: Collection[str] = SECTIONS,
    drift: Drift | None = None,
) -> None:
    """Fill `report` from the recordings of both sides and set its verdict.

    With `drift`, what it excuses counts as equal.
    """
    tolerance, drift = report.tolerance, drift or Drift()
    for side, reader in ((report.old, old), (report.new, new)):
        side.versions = next((event["versions"] for event in reader.of("meta")), {})
    report.notes += list(dict.fromkeys(event["text"] for reader in (old, new) for event in reader.of("note")))
    mapping = {(e["stream"], pair[0]): pair for e in new.of("mapping") for pair in e["pairs"]}
    found: list[Difference] = []
    partings: list[Parting] = []
    streams = sorted({event["stream"] for side in (old, new) for event in side.of("step")})
    for stream in streams:
        name = f"model {stream + 1}, " if len(streams) > 1 else ""
        left = [event for event in old.of("step") if event["stream"] == stream]
        right = [event for event in new.of("step") if event["stream"] == stream]
        rows = [
            _loss_row(stream, i + 1, a["loss"], b["loss"], tolerance, drift)
            for i, (a, b) in enumerate(zip(left, right))
        ]
        arrays = _weights(name, stream, old, new, mapping, tolerance, drift) if "weights" in what else []
        idle = unmoved(old, new, stream) if all(row.equal for row in rows) else set()
        if "weights" in what and all(row.equal or row.name in idle for row in arrays):
            arrays += averages(name, stream, old, new, tolerance, drift, idle)
        if "losses" in what:
            report.losses += rows
            variable = _first_variable(left, right, old, new, tolerance, idle)
            if drift.distances and all([row.equal for row in rows] + [row.equal for row in arrays]):
                variable = Parting()
            partings.append(replace(variable, loss=next((row.step for row in rows if not row.equal), 0)))
            found += _loss_differences(name, rows, str(variable), left, right)
        if "steps" in what:
            found += _step_differences(name, len(left), len(right))
        if "initial values" in what:
            found += compare_initial_values(name, stream, old, new)
        if "weights" in what:
            report.weights += _excused(report, arrays, idle)
    if "initial values" in what:
        found += compare_loaded_values(report, old, new)
    found += _weight_differences([row for row in report.weights if not row.equal], len(report.weights), tolerance)
    if "metrics" in what:
        found += compare_metrics(report, old, new, drift)
    if "predictions" in what:
        found += _predictions(report, old, new, drift)
    if "exports" in what:
        found += compare_exports(report, old, new, drift)
    if "checkpoints" in what:
        found += compare_checkpoints(report, old, new)
    if "summaries" in what:
        found += compare_summaries(report, old, new, drift, _unasked_metrics(old, new))
    if report.mode == "live" and "batches" in what:
        report.batches_compared, differences, notes = batches.compare_batches(old, new)
        found += differences
        report.notes += notes
    report.differences += found
    report.diagnosis = diagnosis(found, partings)
    report.rounding = max(drift.excused, default=0.0)
    numbers = len(report.losses) + len(report.weights) + len(report.metrics)
    numbers += len(report.predictions) + len(report.exports)
    if not numbers and not report.batches_compared and not found:
        report.verdict = COULD_NOT_RUN
        report.problem = (
            "nothing was compared: the old program trained, evaluated and predicted nothing through tf.estimator, or the "
            "new one nothing through tf.keras.Model (fit, train_on_batch, evaluate, predict, predict_on_batch)"
        )
    else:
        report.verdict = DIFFERENT if report.differences else EQUAL
    if report.verdict == EQUAL:
        report.notes += vacuous(old, tolerance) + trivial(old) + unlike(old, new)


def _loss_row(stream: int, step: int, old: float, new: float, tolerance: Tolerance, drift: Drift) -> LossRow:
    key, far = (str(stream), str(step)), relative(old, new)
    equal = close(old, new, tolerance) or drift.excuses(far, "losses", *key)
    return LossRow(stream, step, old, new, far, equal, drift.of("losses", *key))


def _first_variable(
    left: list[dict[str, Any]],
    right: list[dict[str, Any]],
    old: Reader,
    new: Reader,
    tolerance: Tolerance,
    idle: set[str],
) -> Parting:
    """The variable that went apart first, but for those in `idle`, and after which step."""
    for index, (a, b) in enumerate(zip(left, right)):
        worst: tuple[float, str] | None = None
        for name, sums in a["sums"].items():
            if name not in b["sums"] or name in idle:
                continue
            if name in a["values"] and name in b["values"]:
                distance = array_distance(old.array(a["values"][name]), new.array(b["values"][name]))
            else:
                distance = array_distance(sums, b["sums"][name])
            if not arrays_close(*distance, tolerance) and (worst is None or distance[1] > worst[0]):
                worst = (distance[1], name)
        if worst:
            return Parting(0, index + 1, worst[1], worst[0])
    return Parting()


def _loss_differences(
    name: str, rows: list[LossRow], variable: str, left: list[dict[str, Any]], right: list[dict[str, Any]]
) -> list[Difference]:
    found = []
    for side, events in (("old", left), ("new", right)):
        broken = [i + 1 for i, event in enumerate(events) if not math.isfinite(event["loss"])]
        if broken:
            found.append(
                Difference(
                    "losses", f"{name}step {broken[0]}", f"the loss of the {side} program is not a finite number"
                )
            )
    first = next((row for row in rows if not row.equal), None)
    if first is not None:
        count = sum(not row.equal for row in rows)
        message = f"first loss that differs: old {first.old:.9g}, new {first.new:.9g}, relative {first.relative:.2g}"
        if first.drift:
            message += f", {first.relative / first.drift:.3g} times what rounding does to this program"
        message += f"; {count} of {len(rows)} steps differ"
        message += f"; {variable}" if variable else "; no weight differed before"
        found.append(Difference("losses", f"{name}step {first.step}", message))
    elif variable:
        found.append(Difference("losses", name.rstrip(", "), f"losses are equal, but {variable}"))
    return found


def _step_differences(name: str, old: int, new: int) -> list[Difference]:
    found = []
    if old and not new:
        found.append(Difference("steps", name.rstrip(", "), f"the old program trained {old} steps, the new one none"))
    elif old != new:
        more = "at least " if new > old else ""
        found.append(
            Difference(
                "steps", name.rstrip(", "), f"the old program took {old} training steps, the new one {more}{new}"
            )
        )
    return found


def _weights(
    name: str, stream: int, old: Reader, new: Reader, mapping: dict[Any, Any], tolerance: Tolerance, drift: Drift
) -> list[ArrayRow]:
    sides = []
    for reader in (old, new):
        finals = [event["variables"] for event in reader.of("final") if event["stream"] == stream]
        sides.append(finals[-1] if finals else {})
    rows = []
    for variable, reference in sides[0].items():
        pair = mapping.get((stream, variable))
        if variable not in sides[1] or pair is None:
            if sides[1]:
                rows.append(ArrayRow(name, variable, "missing", tuple(reference["shape"]), math.inf, math.inf, False))
            continue
        distance = array_distance(old.array(reference), new.array(sides[1][variable]))
        equal = arrays_close(*distance, tolerance) or drift.excuses(distance[1], "weights", name, variable)
        rows.append(ArrayRow(name, variable, pair[1], tuple(reference["shape"]), *distance, equal, pair[2]))
    return rows


def _excused(report: CaseReport, rows: list[ArrayRow], idle: set[str]) -> list[ArrayRow]:
    """The rows, those of variables that only rounding moved counted as equal, with a note that names them."""
    names = [row.name for row in rows if row.name in idle and not row.equal and math.isfinite(row.max_abs)]
    if names:
        more = f" and {len(names) - 3} more" if len(names) > 3 else ""
        report.notes.append(
            f"{', '.join(names[:3])}{more}: moved by far less than other weights, as rounding moves weights without a gradient; "
            "all losses are equal, so that they may differ"
        )
    return [replace(row, equal=True) if row.name in names else row for row in rows]


FOLDED = 3
"""More weights than this that differ are one line; the table has each."""


def _weight_differences(rows: list[ArrayRow], total: int, tolerance: Tolerance) -> list[Difference]:
    found = []
    for missing in (True, False):
        some = [row for row in rows if math.isinf(row.max_abs) == missing]
        most = max(some, key=lambda row: row.max_rel if math.isfinite(row.max_rel) else 0.0, default=None)
        if len(some) <= FOLDED or most is None:
            found += [Difference("weights", row.where + row.name, _apart(row, tolerance)) for row in some]
        else:
            names = names_text(row.where + row.name for row in some) if missing else f"most {most.where}{most.name}"
            found.append(Difference("weights", f"{len(some)} of {total}, {names}", _apart(most, tolerance)))
    return found


def _apart(row: ArrayRow, tolerance: Tolerance) -> str:
    if math.isinf(row.max_abs):
        return "missing, of another shape, or not a number"
    return f"differs by {row.max_abs:.2g} (relative {row.max_rel:.2g}, allowed {tolerance.array_rtol:.0e})"


def _text(value: Any) -> str:
    array = np.asarray(value)
    if array.size == 1:
        item = array.reshape(-1)[0]
        return f"{item:.9g}" if array.dtype.kind == "f" else str(item)
    return f"{array.dtype.name}{list(array.shape)}"


def compare_metrics(report: CaseReport, old: Reader, new: Reader, drift: Drift | None = None) -> list[Difference]:
    """Fill the metrics of `report`, and return the differences among them."""
    left = {event["call"]: event["metrics"] for event in old.of("metrics")}
    right = {event["call"]: event["metrics"] for event in new.of("metrics")}
    with_old = {event["call"]: event["metrics"] for event in new.of("metrics_with_old_weights")}
    found = _calls("metrics", "evaluate", left, right)
    names = {event["call"]: event.get("name") for event in old.of("metrics")}
    for event in new.of("metrics"):  # those of programs that evaluate by names
        name = names.get(event["call"])
        if name is not None and event.get("name", name) != name:
            message = f"old name {name!r}, new {event['name']!r}: results go to other folders"
            found.append(Difference("metrics", f"evaluate call {event['call']}", message))
    for event in new.of("longer"):
        where = f"evaluate call {event['call']}"
        found.append(Difference("metrics", where, f"the new program evaluates more than {event['recorded']} batches"))
    own: list[str] = []
    for call in sorted(set(left) & set(right)):
        where = f"evaluate call {call}"
        unread = _left_out(report, old, "evaluate", call, set(left[call]) - set(right[call]))
        for key in sorted((set(left[call]) | set(right[call])) - unread):
            if key not in right[call] or key not in left[call]:
                if key in left[call] and key != "global_step":
                    found.append(Difference("metrics", where, f"{key!r} is missing in the new program"))
                elif key in right[call] and key != "global_step":
                    own.append(key)
                continue
            a, b = old.array(left[call][key]), new.array(right[call][key])
            distance = array_distance(a, b)
            if a.size == 1 and b.size == 1 and a.dtype != object and b.dtype != object:
                x, y = float(a.reshape(-1)[0]), float(b.reshape(-1)[0])
                row = ValueRow(call, key, _text(a), _text(b), relative(x, y), close(x, y, report.tolerance))
            else:
                row = ValueRow(call, key, _text(a), _text(b), distance[1], arrays_close(*distance, report.tolerance))
            if not row.equal and key in with_old.get(call, {}) and _may_jump(key, a, b):
                c = new.array(with_old[call][key])
                if arrays_close(*array_distance(a, c), Tolerance(report.tolerance.rtol / 10, report.tolerance.atol)):
                    row = replace(row, equal=True, with_old_weights=_text(c))
                    report.notes.append(
                        f"{where}: {key} counts examples beyond thresholds and moved by rounding, from {row.old} to {row.new}; "
                        f"computed from the weights of the old program it is {row.with_old_weights}, as it should be"
                    )
            if not row.equal and drift is not None and drift.excuses(row.relative, "metrics", str(call), key):
                row = replace(row, equal=True)
            report.metrics.append(row)
            if not row.equal:
                found.append(Difference("metrics", where, f"{key}: old {row.old}, new {row.new}"))
    if own:
        report.notes.append(f"only the new program has the metrics {names_text(dict.fromkeys(own))}")
    return found


LARGEST_JUMP = 0.02
"""How far rounding may move a metric that counts examples beyond thresholds."""


def _may_jump(key: str, old: Any, new: Any) -> bool:
    """Whether a difference may be an example or two that rounding moved across a threshold; a loss has none."""
    if key == "loss" or old.size != 1 or new.size != 1 or old.dtype == object:
        return False
    return bool(abs(float(old.reshape(-1)[0]) - float(new.reshape(-1)[0])) <= LARGEST_JUMP)


ALONE = "output"
"""What stands for the key of predictions that are no dict."""


def _predictions(report: CaseReport, old: Reader, new: Reader, drift: Drift) -> list[Difference]:
    left = {event["call"]: event for event in old.of("predictions")}
    right = {event["call"]: event for event in new.of("predictions")}
    found = _calls("predictions", "predict", left, right)
    for call in sorted(set(left) & set(right)):
        where = f"predict call {call}"
        a, b = left[call]["outputs"], right[call]["outputs"]
        if set(b) == {ALONE} and len(a) == 1:  # the only output of a Keras model, which an Estimator gives by its name
            b = dict.fromkeys(a, b[ALONE])
        unread = _left_out(report, old, "predict", call, set(a) - set(b))
        if any(e["kind"] == "predict" and e["call"] == call and e.get("chosen") for e in old.of("begin")):
            unread |= set(b) - set(a)  # `predict_keys`: Keras has all, of which a program takes the same ones
        for key in sorted((set(a) | set(b)) - unread):
            if key not in a or key not in b:
                side = "new" if key not in b else "old"
                found.append(Difference("predictions", where, f"{key!r} is missing in the {side} program"))
                continue
            x, y = old.array(a[key]), new.array(b[key])
            if not left[call]["complete"]:  # the old program stopped reading: compare what it read
                y = y[: len(x)]
            if x.dtype.kind in "biufc" and x.dtype != y.dtype:
                found.append(Difference("predictions", where, f"{key}: old {x.dtype}, new {y.dtype}"))
            distance = array_distance(x, y)
            equal = arrays_close(*distance, report.tolerance) or drift.excuses(distance[1], "predictions", where, key)
            report.predictions.append(ArrayRow(where, key, key, tuple(x.shape), *distance, equal))
            if len(x) != len(y):
                found.append(Difference("predictions", where, f"{key}: old {len(x)} rows, new {len(y)} rows"))
            elif x.shape != y.shape and x.size == y.size:
                texts = [list(side.shape[1:]) for side in (x, y)]
                found.append(Difference("predictions", where, f"{key}: rows of old shape {texts[0]}, new {texts[1]}"))
            elif not equal:
                found.append(Difference("predictions", where, apart_text(key, x, y, *distance)))
    return found


_OF_HEADS = frozenset(
    {"accuracy_baseline", "auc_precision_recall", "label/mean", "prediction/mean", "all_class_ids", "all_classes"}
)
"""What a head in a model_fn reports beside what the program may have asked for."""


def _left_out(report: CaseReport, old: Reader, kind: str, call: int, missing: set[str]) -> set[str]:
    """Those of the `missing` keys that a canned Estimator reports whether or not its program reads them: one that does not find
    a key that it reads ends with an error."""
    keys, what = _unasked(old, kind, call, missing)
    if keys:
        report.notes.append(
            f"{kind} call {call}: {what} also reports {', '.join(sorted(keys))}; the new program does not"
        )
    return keys


def _unasked(old: Reader, kind: str, call: int, missing: set[str]) -> tuple[set[str], str]:
    """Those keys, and what reports them."""
    if any(e["kind"] == kind and e["call"] == call and e.get("canned") for e in old.of("begin")):
        return missing - {"global_step"}, "a canned Estimator"
    headed = any(e["kind"] == kind and e["call"] == call for e in old.of("head"))
    own = {
        key for key in missing if not _OF_HEADS.isdisjoint((key, key.rpartition("/")[0]))
    }  # after which its name may be
    return (own if headed else set()), "a head"


def _unasked_metrics(old: Reader, new: Reader) -> set[str]:
    """Those of all evaluations."""
    left, right = ({e["call"]: set(e["metrics"]) for e in side.of("metrics")} for side in (old, new))
    calls = left.keys() & right.keys()
    return set().union(*(_unasked(old, "evaluate", call, left[call] - right[call])[0] for call in calls))


def _calls(section: str, kind: str, left: dict[int, Any], right: dict[int, Any]) -> list[Difference]:
    found = []
    for call in sorted(set(left) ^ set(right)):
        side = "new" if call in left else "old"
        found.append(Difference(section, f"{kind} call {call}", f"is missing in the {side} program"))
    return found

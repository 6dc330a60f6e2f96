"""Whether the variables that one program loads from a checkpoint begin with the same values in the other one."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

import numpy as np

from migrator.parity.judge.distances import array_distance, arrays_close
from migrator.parity.judge.phrases import counted, folder_text, names_text
from migrator.parity.judge.report import CaseReport, Difference
from migrator.parity.probe.loads import INIT_FN
from migrator.parity.probe.recorded.store import Reader, sample


def loaded(old: Reader, stream: int) -> dict[str, dict[str, Any]]:
    """The entries of the variables that the old program loads for a model, by name."""
    starts = (event["variables"] for event in old.of("variables") if event["stream"] == stream)
    return {entry["name"]: entry for entry in next(starts, ()) if "from" in entry}


def compare_loaded_values(report: CaseReport, old: Reader, new: Reader) -> list[Difference]:
    """Differences between what both sides loaded, before it was replayed; a note where there are none."""
    models = sorted({event["stream"] for event in old.of("variables")})
    names = [f"model {stream + 1}" if len(models) > 1 else "" for stream in models]
    return [one for name, stream in zip(names, models) for one in _compare_model(report, name, stream, old, new)]


def _compare_model(report: CaseReport, name: str, stream: int, old: Reader, new: Reader) -> list[Difference]:
    begun = [event for kind in ("initial", "begun") for event in new.of(kind) if event["stream"] == stream]
    if not begun:
        return []
    own = {variable: reference for event in begun for variable, reference in event["variables"].items()}
    apart: dict[str, list[tuple[float, str]]] = {}
    entries = {variable: entry for variable, entry in loaded(old, stream).items() if variable in own}
    for variable, entry in entries.items():
        value, other = sample(old.array(entry["value"])), sample(new.array(own[variable]))
        part = sample(old.array(entry["part"])) if "part" in entry else np.ones(value.shape, bool)
        distance = array_distance(value[part], other[part])
        if arrays_close(*distance, report.tolerance) or _of_a_training(entry, other, old, new):
            continue
        if not _is_drawn_alike(entry, old):
            apart.setdefault(_loads(entry), []).append((distance[1], variable))
    found = [
        Difference("initial values", name, _dropped(source, worst, len(entries))) for source, worst in apart.items()
    ]
    for source, variables in _only_new(begun[0]):
        message = f"only the new program loads {names_text(variables)} from {folder_text(source)}"
        found.append(Difference("initial values", name, message))
    if entries and not apart:
        ways = names_text(sorted({_loads(entry) for entry in entries.values()}))
        text = f"the new program begins with the values of {counted(len(entries), 'variable')} that the old one {ways}"
        report.notes.append(f"{name}: {text}" if name else text)
    return found


def _loads(entry: dict[str, Any]) -> str:
    """How the old program gives a variable its first value."""
    source = str(entry["from"])
    return source if source == INIT_FN else f"loads from {folder_text(source)}"


def _dropped(way: str, worst: list[tuple[float, str]], every: int) -> str:
    names = names_text([variable for _, variable in sorted(worst, key=lambda pair: -pair[0])])
    largest = max(worst)[0]
    return (
        f"{len(worst)} of {counted(every, 'variable')} that the old program {way} begin with other values in the new one: "
        f"{names} (relative {largest:.2g})"
    )


def _of_a_training(entry: dict[str, Any], other: Any, old: Reader, new: Reader) -> bool:
    """Whether each program loads what it has trained another variable to.

    These may be apart though they count as equal: rounding moves weights that have no gradient.
    """
    value = old.array(entry["value"])
    results = {event["stream"]: event["variables"] for event in new.of("final")}
    for stream, variables in {event["stream"]: event["variables"] for event in old.of("final")}.items():
        for name, reference in variables.items() if "part" not in entry else ():
            made = results.get(stream, {}).get(name)
            if made is not None and reference["shape"] == list(value.shape):
                if np.array_equal(old.array(reference), value) and np.array_equal(sample(new.array(made)), other):
                    return True
    return False


def _is_drawn_alike(entry: dict[str, Any], old: Reader) -> bool:
    """Whether a variable of the old program begins as one of another model that was drawn: with one seed, both are, and a
    training that never moved the first has left its value in a checkpoint."""
    value = old.array(entry["value"])
    drawn = (one for event in old.of("variables") for one in event["variables"] if "from" not in one)
    return any(one["name"] == entry["name"] and np.array_equal(old.array(one["value"]), value) for one in drawn)


def _only_new(event: dict[str, Any]) -> Iterator[tuple[str, Collection[str]]]:
    """The variables that only the new program loads, by what from."""
    paths: dict[str, str] = event.get("loaded", {})
    for source in dict.fromkeys(paths.values()):
        yield source, [variable for variable, path in paths.items() if path == source]

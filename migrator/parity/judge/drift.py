"""What rounding alone does to a program: how far the old one goes from itself if the last bit of its weights is changed.

Some programs make much of little: losses that explode, Adam with gradients that are next to nothing. There two right
programs are as far apart as that, and a wrong one further.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from migrator.parity.judge.distances import array_distance
from migrator.parity.judge.report import CaseReport
from migrator.parity.probe.recorded.store import Reader

ALLOWED = 10.0
"""How many times as far apart two programs may be as rounding takes the old one from itself."""
SAME_START = 1e-4
"""First weights of two runs that are no further apart are the same but for their last bits."""

OF_EVALUATIONS = {"metrics", "predictions", "exports", "summaries"}
"""Sections of what is computed with the weights of a training, and not in it."""

Key = tuple[str, str, str]
"""Section, where and name of a number."""


@dataclass
class Drift:
    """Relative distances of the old program from itself, and what they have excused so far."""

    distances: Mapping[Key, float] = field(default_factory=dict)
    summaries: frozenset[str] = frozenset()
    """Scalars that differ, by where they stand."""
    excused: list[float] = field(default_factory=list)
    """How many times as far as the drift each of those numbers is that only the drift excuses."""

    def of(self, section: str, where: str, name: str) -> float:
        """The distance; 0 where none was measured."""
        return self.distances.get((section, where, name), 0.0)

    def excuses(self, relative: float, section: str, where: str, name: str) -> bool:
        """Whether rounding may have brought about a distance that the tolerance does not allow."""
        own = self.of(section, where, name)
        if not 0 < own < math.inf or not relative <= ALLOWED * own:
            return False
        self.excused.append(relative / own)
        return True

    def and_of(self, report: CaseReport) -> Drift:
        """This and what `compare` found of the old program and itself: of each distance the larger one."""
        other = drift_of(report)
        keys = {**self.distances, **other.distances}
        return Drift({key: max(self.of(*key), other.of(*key)) for key in keys}, self.summaries | other.summaries)


class Again(Reader):
    """A second recording of the old program, as if a new one had made it."""

    def of(self, event_type: str) -> Iterator[dict[str, Any]]:
        if event_type == "export":
            return map(_repeated, super().of(event_type))
        if event_type != "mapping":
            return super().of(event_type)
        first = {event["stream"]: event["variables"] for event in reversed(self.events) if event["type"] == "variables"}
        pairs = {
            stream: [[v["name"], v["name"], "name", v["value"]["shape"]] for v in listed]
            for stream, listed in first.items()
        }
        return iter([{"type": "mapping", "stream": stream, "pairs": found} for stream, found in pairs.items()])


OUTPUTS = ("values", "of blank")
"""What signatures give, for the rows of a batch and for one that lacks what it may lack."""


def _repeated(event: dict[str, Any]) -> dict[str, Any]:
    """An export whose outputs are said to be those for the inputs of the same export of the first recording."""
    signatures = {
        name: {**signature, **{part: {str(event["call"]): signature[part]} for part in OUTPUTS if part in signature}}
        for name, signature in event.get("signatures", {}).items()
    }
    return {**event, "signatures": signatures} if "signatures" in event else event


def drift_of(report: CaseReport) -> Drift:
    """What `compare` found of the old program and itself, as distances; those of losses never fall."""
    found: dict[Key, float] = {}
    furthest: dict[int, float] = {}
    for loss in report.losses:
        furthest[loss.model] = max(furthest.get(loss.model, 0.0), loss.relative)
        found["losses", str(loss.model), str(loss.step)] = furthest[loss.model]
    for metric in report.metrics:
        found["metrics", str(metric.call), metric.key] = metric.relative
    for section, rows in (
        ("weights", report.weights),
        ("predictions", report.predictions),
        ("exports", report.exports),
    ):
        for row in rows:
            found[section, row.where, row.name] = row.max_rel
    moved = [one.where for one in report.differences if one.section == "summaries" and one.message.startswith("step ")]
    return Drift(found, frozenset(moved))


def evaluations_move(report: CaseReport, drift: Drift) -> bool:
    """Whether only evaluations and what comes after them are left apart, and rounding is seen to move these evaluations.

    Metrics such as AUC count examples, and jump: by how much, one run may not show.
    """
    apart = {metric.call for metric in report.metrics if not metric.equal}
    moved = {
        metric.call
        for metric in report.metrics
        if drift.of("metrics", str(metric.call), metric.key) > report.tolerance.rtol
    }
    return bool(apart) and apart <= moved and {each.section for each in report.differences} <= OF_EVALUATIONS


def unlike(old: Reader, again: Reader) -> str:
    """Why two runs of the old program tell nothing of rounding; empty where they do."""
    for a, b in zip(old.of("variables"), again.of("variables")):
        values = {entry["name"]: entry["value"] for entry in b["variables"]}
        for entry in a["variables"]:
            value = again.array(values[entry["name"]]) if entry["name"] in values else np.zeros(0)
            if array_distance(old.array(entry["value"]), value)[1] > SAME_START:
                return f"two runs of the old program begin with other values of {entry['name']}"
        break
    for number, (a, b) in enumerate(zip(old.of("step"), again.of("step")), 1):
        ours, theirs = (_batch(side, event) for side, event in ((old, a), (again, b)))
        if ours.keys() != theirs.keys() or any(not np.array_equal(ours[key], theirs[key]) for key in ours):
            return f"two runs of the old program get other batches from step {number} on"
    return ""


def _batch(side: Reader, event: dict[str, Any]) -> dict[str, Any]:
    features, labels = event["batch"]
    return {**side.leaves(features, "features"), **side.leaves(labels, "labels")}

"""Compares the steps at which both sides wrote checkpoints, where the program says after how many steps it wants them."""

from __future__ import annotations

import itertools
import os
from typing import Any

from migrator.parity.judge.phrases import folder_text, steps_text
from migrator.parity.judge.report import CaseReport, Difference
from migrator.parity.probe.recorded.store import Reader

NOT_WRITTEN = (
    "not compared: when checkpoints are written, as the new program writes none with tf.train.CheckpointManager"
)

NOT_AT_START = "not compared: the checkpoint before the first step, as the new program writes none"


def compare_checkpoints(report: CaseReport, old: Reader, new: Reader) -> list[Difference]:
    """The differences. Folders are paired in the order in which they got their first checkpoints."""
    wanted = {event["folder"] for event in old.of("cadence")}
    left, right = _by_folder(old), _by_folder(new)
    pairs = [(a, b) for (folder, a), b in zip(left.items(), right.values()) if folder in wanted]
    if wanted & set(left) and not right:
        report.notes.append(NOT_WRITTEN)
    found = []
    name = "model {}" if len(left) > 1 else "model"
    for number, (a, b) in enumerate(zip(left.values(), right.values()), 1):
        if not _is_temporary(a) and _is_temporary(b):
            place = folder_text(a[0].get("place", a[0]["folder"]))
            message = f"the old program writes them to {place}, the new one to a temporary folder"
            found.append(Difference("checkpoints", name.format(number), message))
    for number, (a, b) in enumerate(pairs, 1):
        where = name.format(number)
        ours, theirs = ({event["step"] for event in events} for events in (a, b))
        kept, stay = (sorted(set(events[-1]["kept"])) for events in (a, b))
        begun = _before_training(old) - theirs  # Keras has no variables yet, or has just read them there
        if ours & begun:
            ours, kept = ours - begun, [step for step in kept if step not in begun or step in stay]
            report.notes.append(NOT_AT_START)
        if ours != theirs:
            found.append(
                Difference("checkpoints", where, f"old at steps {steps_text(ours)}; new at steps {steps_text(theirs)}")
            )
        elif kept != stay:
            message = f"kept at the end: old those of steps {steps_text(kept)}; new those of steps {steps_text(stay)}"
            found.append(Difference("checkpoints", where, message))
    return found


def _by_folder(reader: Reader) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = {}
    for event in reader.of("checkpoint"):
        found.setdefault(event["folder"], []).append(event)
    return found


def _before_training(reader: Reader) -> set[int]:
    """The steps of the checkpoints that were written before the first step."""
    before = itertools.takewhile(lambda event: event["type"] != "step", reader.events)
    return {0, *(event["step"] for event in before if event["type"] == "checkpoint")}


def _is_temporary(events: list[dict[str, Any]]) -> bool:
    """Whether checkpoints go to a folder that the program did not name."""
    return bool(events[0].get("place", "").startswith("tmp" + os.sep))

"""What the old program never exercised: equality says nothing about a clip that never clipped, a stop that never stopped."""

from __future__ import annotations

import math

from migrator.parity.judge.phrases import counted
from migrator.parity.judge.report import Tolerance
from migrator.parity.probe.recorded.store import Reader


def vacuous(old: Reader, tolerance: Tolerance) -> list[str]:
    """Notes on gradient clips that changed nothing, regularizers that are too small to be seen, and choices without another."""
    steps, notes = list(old.of("step")), []
    clips = [event["clipped"] for event in steps if "clipped" in event]
    if clips and not any(clips):
        notes.append(
            f"no gradient was clipped in {counted(len(clips), 'step')}: equality says nothing about the clipping"
        )
    shares = [
        abs(event["regularization"] / event["loss"]) for event in steps if "regularization" in event and event["loss"]
    ]
    if shares and max(shares) <= tolerance.rtol:
        notes.append(
            f"regularizers are at most {max(shares):.1e} of the loss, less than the tolerance: equality says little about them"
        )
    stops = [event["stop"] for event in old.of("early stopping")]
    if stops and not any(stops):
        notes.append("early stopping never stopped the training: equality says nothing about when it does")
    best: dict[str, list[bool]] = {}
    for event in old.of("best export"):
        best.setdefault(event["name"], []).append(event["made"])
    for name, made in best.items():
        if all(made):
            why = "there was one evaluation alone" if len(made) == 1 else "each evaluation was better than those before"
            notes.append(f"export to {name}: {why}: equality says nothing about what the best one is")
    return notes


def unlike(old: Reader, new: Reader) -> list[str]:
    """Notes on what the new program does otherwise where no number can show it: seeds, and the loss that it reports."""
    notes = []
    seeds = {event["seed"] for event in old.of("begin") if event.get("seed") is not None}
    own = {event["seed"] for event in new.of("begin") if event.get("seed") is not None}
    given = next((event["seeds"] for event in new.of("seeded")), None)
    if given is not None and (lost := sorted(seeds - own - set(given))):
        notes.append(
            f"tf_random_seed of the RunConfig is {', '.join(map(str, lost))}: the new program seeds TensorFlow with "
            f"{', '.join(map(str, given)) or 'nothing'}"
        )
    losses = {event["stream"]: event["loss"] for event in old.of("step") if event["step"] == 1}
    for event in new.of("step"):
        loss = losses.get(event["stream"])
        if "reported" in event and loss is not None and not math.isclose(event["reported"], loss, rel_tol=1e-3):
            notes.append(
                f"the loss of the first step is {loss:.6g}, and the one that `fit` reports {event['reported']:.6g}: "
                "what callbacks see of losses is not that of the old program"
            )
    return notes

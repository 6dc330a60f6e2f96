"""What a training of the old program never exercised: equality says nothing about a clip that never clipped."""

from __future__ import annotations

from migrator.parity.judge.phrases import counted
from migrator.parity.judge.report import Tolerance
from migrator.parity.probe.recorded.store import Reader


def vacuous(old: Reader, tolerance: Tolerance) -> list[str]:
    """Notes on gradient clips that changed nothing, and on regularizers that are too small to be seen."""
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
    return notes

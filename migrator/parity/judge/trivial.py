"""Metrics that a model gets without having learned anything: both sides may well agree on them by other ways."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from migrator.parity.judge.phrases import names_text
from migrator.parity.probe.recorded.store import Reader

_CLOSE = 1e-6


def trivial(old: Reader) -> list[str]:
    """Notes on metrics that have such a value in each evaluation, and on losses that are zero."""
    seen: dict[str, list[tuple[int, float]]] = {}
    for event in old.of("metrics"):
        for key, reference in event["metrics"].items():
            if reference["shape"] in ([], [1]) and reference["dtype"] != "bytes" and key != "global_step":
                seen.setdefault(key, []).append((event["call"], float(old.array(reference).reshape(-1)[0])))
    alike = [key for key, found in seen.items() if "auc" in key.lower() and _all(found, 0.5)]
    shares = {}
    if any("acc" in key.lower() for key in seen):
        shares = {call: list(_shares(old, call)) for call in {call for found in seen.values() for call, _ in found}}
    one_class = [
        key
        for key, found in seen.items()
        if "acc" in key.lower()
        and not (_all(found, 0.0) or _all(found, 1.0))
        and all(any(abs(share - value) < _CLOSE for share in shares[call]) for call, value in found)
    ]
    notes = [
        _note(alike, "0.5, as where all predictions are alike,"),
        _note(one_class, "the share of one label, as where all predictions are of one class,"),
        *(_note([key for key, found in seen.items() if _all(found, limit)], f"{limit:g}") for limit in (0.0, 1.0)),
    ]
    losses = [event["loss"] for event in old.of("step")]
    if losses and not any(losses):
        notes.append("all losses are 0: equality says little about the training")
    return [note for note in notes if note]


def _all(found: list[tuple[int, float]], value: float) -> bool:
    return all(abs(number - value) < _CLOSE for _, number in found)


def _note(keys: list[str], what: str) -> str:
    verb, them = ("is", "it") if len(keys) == 1 else ("are", "them")
    return f"{names_text(keys)} {verb} {what} in each evaluation: equality says little about {them}" if keys else ""


def _shares(old: Reader, call: int) -> Iterator[float]:
    """How often each label occurs among those of an evaluation, for each part of the labels that are classes."""
    parts: dict[str, list[Any]] = {}
    for event in old.of("batch"):
        if event["kind"] == "evaluate" and event["call"] == call:
            for path, values in old.leaves(event["batch"][1]).items():
                parts.setdefault(path, []).append(values.reshape(-1))
    for arrays in parts.values():
        values = np.concatenate(arrays)
        if values.size and values.dtype.kind in "biuO" or values.dtype.kind == "f" and np.all(values % 1 == 0):
            yield from np.unique(values, return_counts=True)[1] / values.size

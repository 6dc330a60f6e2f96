"""Live mode: are the batches that the new input pipeline makes those of the old one?"""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from migrator.parity.judge.report import Difference
from migrator.parity.probe.recorded.store import Reader

FLOAT_RTOL = 1e-6


def compare_batches(old: Reader, new: Reader) -> tuple[int, list[Difference], list[str]]:
    """Number of batches compared, differences, and notes."""
    shuffles = [sorted({event["text"] for event in reader.of("shuffle")}) for reader in (old, new)]
    found: list[Difference] = []
    notes: list[str] = []
    if any(shuffles):
        notes.append(
            f"shuffling was switched off on both sides to compare batches in order "
            f"(old: {', '.join(shuffles[0]) or 'none'}; new: {', '.join(shuffles[1]) or 'none'})"
        )
    sizes = [sorted({event["size"] for event in reader.of("shuffle") if event.get("size")}) for reader in (old, new)]
    if shuffles[0] == shuffles[1] and sizes[0] != sizes[1]:
        ours, theirs = (", ".join(map(str, side)) or "of unknown size" for side in sizes)
        found.append(Difference("batches", "", f"buffers to shuffle in: old {ours}, new {theirs}"))
    ways = [{event["how"] for event in reader.of("shuffle") if event.get("how")} for reader in (old, new)]
    if shuffles[0] == shuffles[1] and ways[0] != ways[1]:
        ours, theirs = ("; ".join(sorted(each)) for each in ways)
        found.append(Difference("batches", "", f"what is shuffled: old {ours}, new {theirs}"))
    if bool(shuffles[0]) != bool(shuffles[1]):
        side, other = ("old", "new") if shuffles[0] else ("new", "old")
        found.append(Difference("batches", "", f"the {side} program shuffles its input, the {other} one does not"))
    groups: dict[tuple[str, int], tuple[list[Any], list[Any]]] = {}
    for event in old.of("step"):
        groups.setdefault(("train", event["stream"]), ([], []))[0].extend((event["batch"], *event["others"]))
    for event in old.of("batch"):
        groups.setdefault((event["kind"], event["call"]), ([], []))[0].append(event["batch"])
    for event in new.of("own"):
        if event["kind"] != "train":
            groups.setdefault((event["kind"], event["call"]), ([], []))[1].append(event["batch"])
    for event in new.of("trained"):  # a pipeline runs ahead of the training: only what was used counts
        own = [own["batch"] for own in new.of("own") if own["kind"] == "train" and own["call"] == event["call"]]
        groups.setdefault(("train", event["stream"]), ([], []))[1].extend(own[: event["batches"]])
    compared = 0
    for (kind, call), (left, right) in groups.items():
        where = "training" if kind == "train" else f"{kind} call {call}"
        if not right:
            notes.append(f"{where}: the input of the new program could not be watched; its batches were not compared")
            continue
        if len(right) < len(left):
            found.append(Difference("batches", where, f"old {len(left)} batches, new {len(right)}"))
        pairs = list(zip(left, right))
        compared += len(pairs)
        labels = kind != "predict"
        bad: tuple[int, str] | None = None
        for index, (a, b) in enumerate(pairs):
            problem = _unequal(_leaves(old, a, labels), _leaves(new, b, labels), notes)
            if problem:
                bad = (index + 1, problem)
                break
        if bad is None:
            continue
        same = _examples(old, [a for a, _ in pairs], labels) == _examples(new, [b for _, b in pairs], labels)
        if same and all(shuffles) and kind != "predict":  # rows of predictions stand for those of the input
            notes.append(f"{where}: the same examples in another order; both programs shuffle")
        else:
            order = "; the same examples in another order" if same else ""
            found.append(Difference("batches", f"{where}, batch {bad[0]}", bad[1] + order))
    return compared, found, notes


def _leaves(reader: Reader, batch: Any, labels: bool) -> dict[str, Any]:
    found = {"features/" + path: value for path, value in reader.leaves(batch[0]).items()}
    if labels:
        found.update({"labels/" + path: value for path, value in reader.leaves(batch[1]).items()})
    for part in ("features", "labels"):  # a single tensor is the same as a dict with one entry
        mine = [path for path in found if path.startswith(part + "/")]
        if len(mine) == 1:
            found[part] = found.pop(mine[0])
    return found


def _unequal(old: dict[str, Any], new: dict[str, Any], notes: list[str]) -> str:
    """What is different between two batches; empty if nothing is."""
    missing = sorted(set(old) - set(new))
    if missing and not set(new) & set(old):
        return f"other features: old {', '.join(sorted(old))}, new {', '.join(sorted(new))}"
    if missing:
        text = f"the new input has no {', '.join(missing)}"
        if text not in notes:
            notes.append(text)
    extra = sorted(set(new) - set(old))
    if extra:
        return f"the new input also has {', '.join(extra)}"
    for path in sorted(set(old) & set(new)):
        a, b = old[path], new[path]
        if a.size != b.size or a.shape[:1] != b.shape[:1]:
            return f"{path}: shape {list(a.shape)} became {list(b.shape)}"
        if not _same(a, b.reshape(a.shape)):
            return f"{path} differs"
    return ""


def _same(a: Any, b: Any) -> bool:
    if a.dtype == object or b.dtype == object:
        return bool(a.tolist() == b.tolist())
    if a.dtype.kind in "fc" or b.dtype.kind in "fc":
        return bool(np.allclose(a, b, rtol=FLOAT_RTOL, atol=1e-9, equal_nan=True))
    return bool(np.array_equal(a, b))


def _examples(reader: Reader, batches: list[Any], labels: bool) -> Counter[str]:
    """How often each example occurs; floats are rounded so that equal examples have equal text."""
    counts: Counter[str] = Counter()
    for batch in batches:
        leaves = [
            value.astype(np.float32) if value.dtype.kind == "f" else value
            for _, value in sorted(_leaves(reader, batch, labels).items())
        ]
        rows = min((len(leaf) for leaf in leaves if leaf.ndim), default=0)
        counts.update(repr([np.asarray(leaf[row]).tolist() for leaf in leaves if leaf.ndim]) for row in range(rows))
    return counts
